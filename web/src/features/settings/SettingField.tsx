import { useId } from "react";

import { classNames } from "@/lib/class_names";
import { Input, TextArea } from "@/ui";

import { Switch } from "./Switch";
import { isSet, type Entry } from "./values";

export interface SettingFieldProps {
  id: string;
  entry: Entry;
  text: string;
  placeholder: string;
  unit: string | undefined;
  offered: readonly string[] | undefined;
  describedBy: string;
  disabled: boolean;
  invalid: boolean;
  onText: (text: string) => void;
  onTruth: (value: boolean) => void;
}

/** The field that fits the kind of a setting. */
export function SettingField({ id, entry, text, placeholder, unit, offered, describedBy, disabled, invalid, onText, onTruth }: SettingFieldProps) {
  const list = useId();
  const shared = { id, disabled, "aria-describedby": describedBy, "aria-invalid": invalid || undefined };
  switch (entry.kind.type) {
    case "truth":
      return <Switch {...shared} checked={entry.value === true} onChange={onTruth} />;
    case "lines":
      return <TextArea {...shared} rows={2} className="font-mono" value={text} placeholder="One in a line" onChange={(event) => onText(event.target.value)} />;
    case "other":
      return <p className="text-xs text-muted">Set in the settings file: {text === "{}" ? "nothing" : <code className="break-all">{text}</code>}</p>;
    case "secret":
      return <Input {...shared} type="password" value={text} placeholder={isSet(entry) ? "Set. Type to replace it" : "Not set"} autoComplete="new-password" onChange={(event) => onText(event.target.value)} />;
    default:
      return (
        <div className={classNames("flex items-center gap-2", entry.kind.type !== "number" && "*:flex-1")}>
          <Input
            {...shared}
            value={text}
            placeholder={placeholder}
            inputMode={entry.kind.type === "number" ? "decimal" : undefined}
            list={offered === undefined ? undefined : list}
            className={classNames(entry.kind.type === "number" && "w-28!", entry.kind.type === "directory" && "font-mono")}
            onChange={(event) => onText(event.target.value)}
          />
          {unit !== undefined && <span className="text-xs whitespace-nowrap text-muted">{unit}</span>}
          {offered !== undefined && (
            <datalist id={list}>
              {offered.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </div>
      );
  }
}
