import { Send } from "lucide-react";

import { useIsAdmin, useTestNotifications } from "@/api";
import { useCommand } from "@/lib/commands";
import { Badge, Button, ErrorState } from "@/ui";

import { Part } from "./Part";
import { SettingGroup } from "./SettingGroup";
import { nameOf } from "./words";

export function Notifications({ wanted }: { wanted: string | undefined }) {
  return (
    <>
      {useIsAdmin() === true && <Test />}
      <SettingGroup group="notifications" wanted={wanted} nothing="none" />
    </>
  );
}

function Test() {
  const test = useTestNotifications();
  const send = () => test.mutate();
  useCommand({ id: "notifications.test", title: "Send a test notification", group: "Settings", run: send });
  return (
    <Part
      title="Test"
      about="A message goes through every channel that is turned on."
      aside={
        <Button small icon={Send} busy={test.isPending} onClick={send}>
          Send a test
        </Button>
      }
    >
      <div role="status" aria-label="Result of the test">
        {test.isError && <ErrorState compact error={test.error} />}
        {test.data === undefined && !test.isError && <p className="px-4 py-3 text-muted">{test.isPending ? "Sending …" : "Nothing sent yet."}</p>}
        {test.data?.length === 0 && <p className="px-4 py-3 text-muted">No channel is turned on. Turn one on below and start Forge again.</p>}
        {test.data?.map(({ channel, sent, reason }) => (
          <p key={channel} className="flex flex-wrap items-center gap-x-3 px-4 py-2.5">
            <span className="min-w-24 font-medium">{nameOf(channel)}</span>
            <Badge meaning={sent ? "good" : "bad"}>{sent ? "sent" : "not sent"}</Badge>
            <span className="text-muted">{reason}</span>
          </p>
        ))}
      </div>
    </Part>
  );
}
