import { CircleAlert, CircleCheck, CircleX, X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { useSyncExternalStore } from "react";

import { Button, IconButton } from "./Button";
import { dismissToast, onToasts, shownToasts, type ShownToast } from "./toasts";

const ICONS = {
  good: <CircleCheck aria-hidden size={16} className="shrink-0 text-good" />,
  attention: <CircleAlert aria-hidden size={16} className="shrink-0 text-attention" />,
  bad: <CircleX aria-hidden size={16} className="shrink-0 text-bad" />,
};

function Message({ message }: { message: ShownToast }) {
  return (
    <Radix.Root
      duration={message.lasting === true ? 30_000 : message.action || message.meaning === "bad" ? 10_000 : 4_000}
      onOpenChange={(open) => !open && dismissToast(message.id)}
      className="floating flex animate-appear items-center gap-2 py-1.5 pr-1.5 pl-3"
    >
      {message.meaning && ICONS[message.meaning]}
      <Radix.Description className="min-w-0 flex-1 break-words">{message.text}</Radix.Description>
      {message.action && (
        <Radix.Action asChild altText={message.action.label} onClick={message.action.run}>
          <Button small>{message.action.label}</Button>
        </Radix.Action>
      )}
      <Radix.Close asChild>
        <IconButton icon={X} label="Dismiss" small />
      </Radix.Close>
    </Radix.Root>
  );
}

/** Once, in the shell. F8 moves the focus here. */
export function Toasts() {
  const messages = useSyncExternalStore(onToasts, shownToasts);
  return (
    <Radix.Provider swipeDirection="right" label="Message">
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      <Radix.Viewport className="fixed right-3 bottom-9 z-50 flex w-90 max-w-[calc(100vw-24px)] flex-col gap-2 outline-none" />
    </Radix.Provider>
  );
}
