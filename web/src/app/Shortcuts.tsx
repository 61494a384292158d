import { useCommandList } from "@/lib/commands";
import { groupBy } from "@/lib/group_by";
import { Dialog, Kbd } from "@/ui";

/** All keys that work here and now, by group. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const commands = useCommandList().filter((each) => each.keys !== undefined);
  const groups = groupBy(commands, (each) => each.group).sort(([a], [b]) => a.localeCompare(b));
  return (
    <Dialog open onClose={onClose} size="medium" title="Keyboard shortcuts">
      <div className="gap-8 sm:columns-2">
        {groups.map(([group, items]) => (
          <section key={group} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 text-xs font-semibold text-muted">{group}</h3>
            <dl>
              {items.map((each) => (
                <div key={each.id} className="flex min-h-7 items-center justify-between gap-3">
                  <dt className="min-w-0">{each.title}</dt>
                  <dd className="shrink-0">
                    <Kbd keys={each.keys ?? ""} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
