/** The screen of a terminal: an xterm in an element, as large as the element is. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

export interface Screen {
  show: (data: Uint8Array) => void;
  listen: (onKeys: (keys: string) => void, onSize: (rows: number, columns: number) => void) => void;
  close: () => void;
}

export function shownIn(element: HTMLElement): Screen {
  const terminal = new Terminal({ fontFamily: "ui-monospace, monospace", fontSize: 13, theme: { background: "#1b1d23" }, screenReaderMode: true });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  terminal.focus();
  const watch = new ResizeObserver(() => fit.fit());
  watch.observe(element);
  return {
    show: (data) => terminal.write(data),
    listen: (onKeys, onSize) => {
      terminal.onData(onKeys);
      terminal.onResize(({ rows, cols }) => onSize(rows, cols));
      onSize(terminal.rows, terminal.cols);
    },
    close: () => {
      watch.disconnect();
      terminal.dispose();
    },
  };
}
