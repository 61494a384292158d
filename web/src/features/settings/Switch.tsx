import { Switch as Radix } from "radix-ui";

export interface SwitchProps {
  id: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  "aria-describedby"?: string | undefined;
}

export function Switch({ checked, onChange, ...rest }: SwitchProps) {
  return (
    <span className="flex h-8 items-center gap-2">
      <Radix.Root
        checked={checked}
        onCheckedChange={onChange}
        className="h-5 w-9 rounded-full border border-muted bg-surface-2 p-px transition-colors disabled:opacity-50 data-[state=checked]:border-accent-fill data-[state=checked]:bg-accent-fill"
        {...rest}
      >
        <Radix.Thumb className="block size-4 rounded-full bg-muted transition-transform data-[state=checked]:translate-x-4 data-[state=checked]:bg-on-accent" />
      </Radix.Root>
      <span aria-hidden className="text-xs text-muted">
        {checked ? "On" : "Off"}
      </span>
    </span>
  );
}
