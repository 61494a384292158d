/** The frame around every screen: rail, side panel, branch tabs, status bar, and what opens over them. */
import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";

import { keys, needsSignIn, stream, useConnection, useWho } from "@/api";
import { NARROW, useMediaQuery } from "@/lib/media_query";
import { useStored } from "@/lib/stored";
import { ErrorState, Panel, PanelEdge, Panels } from "@/ui";

import { BranchDialogs } from "./BranchDialogs";
import { BranchTabs } from "./BranchTabs";
import { ConnectionLine } from "./ConnectionLine";
import { useHere } from "./here";
import { useKeymap } from "./keymap";
import { KnownRepository } from "./KnownRepository";
import { Overlays } from "./Overlays";
import { Rail } from "./Rail";
import { ShellCommands } from "./ShellCommands";
import { ShellContext, useShell, type BranchDialog, type Overlay, type ShellState, type Side } from "./shell_state";
import { SidePanel } from "./SidePanel";
import { SignIn } from "./SignIn";
import { StatusBar } from "./StatusBar";
import { useTopics } from "./topics";

export function Shell() {
  const who = useWho();
  if (who.data === undefined && who.error !== null) {
    return needsSignIn(who.error) ? <SignIn /> : <ErrorState error={who.error} onRetry={() => void who.refetch()} />;
  }
  if (needsSignIn(who.error)) return <SignIn />;
  return who.data === undefined ? null : <Frame />;
}

/** Connected as long as somebody is signed in. Whatever was missed is asked for again after a break. */
function useStream(): void {
  const client = useQueryClient();
  const { state } = useConnection();
  const broke = useRef(false);
  useEffect(() => {
    stream.connect();
    return () => stream.close();
  }, []);
  useEffect(() => {
    if (state === "connected" && broke.current) void client.invalidateQueries();
    if (state === "reconnecting" || state === "refused") void client.invalidateQueries({ queryKey: keys.who() });
    broke.current = state === "reconnecting";
  }, [state, client]);
}

function useShellState(): ShellState {
  const narrow = useMediaQuery(NARROW);
  const [dialog, setDialog] = useState<BranchDialog | null>(null);
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [side, setSide] = useState<Side>("branches");
  const [beside, setBeside] = useStored("side.open", true);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  // Over the rest, it has done its work once something was chosen in it.
  const [overAt, setOverAt] = useState<string | null>(null);
  const over = overAt === pathname;
  return useMemo(() => {
    const [sideOpen, setSideOpen] = narrow ? ([over, (open: boolean) => setOverAt(open ? pathname : null)] as const) : ([beside, setBeside] as const);
    return { dialog, setDialog, overlay, setOverlay, side, setSide, sideOpen, setSideOpen, narrow };
  }, [dialog, overlay, side, beside, setBeside, over, pathname, narrow]);
}

function Frame() {
  useStream();
  useKeymap();
  useTopics();
  const shell = useShellState();
  const beside = shell.sideOpen && !shell.narrow;
  return (
    <ShellContext value={shell}>
      <ShellCommands />
      <div className="flex h-full flex-col">
        <ConnectionLine />
        <div className="relative flex min-h-0 flex-1">
          <Rail />
          {shell.sideOpen && shell.narrow && <SideOver />}
          <Panels id="shell" panelIds={beside ? ["side", "main"] : ["main"]}>
            {beside && (
              <>
                <Panel id="side" size={260} min={180} max={480} fixed>
                  <SidePanel />
                </Panel>
                <PanelEdge />
              </>
            )}
            <Panel id="main">
              <Main />
            </Panel>
          </Panels>
        </div>
        <StatusBar />
      </div>
      <BranchDialogs />
      <Overlays />
    </ShellContext>
  );
}

function SideOver() {
  const { setSideOpen } = useShell();
  return (
    <>
      <button type="button" aria-label="Close the side panel" className="absolute inset-0 left-12 z-20 bg-shade" onClick={() => setSideOpen(false)} />
      <div className="absolute inset-y-0 left-12 z-30 w-75 border-r border-line shadow-float">
        <SidePanel />
      </div>
    </>
  );
}

function Main() {
  const { repo } = useHere();
  const screen = (
    <main className="min-h-0 flex-1 overflow-auto">
      <Outlet />
    </main>
  );
  if (repo === undefined) return screen;
  return (
    <KnownRepository key={repo} repo={repo}>
      <BranchTabs repo={repo} />
      {screen}
    </KnownRepository>
  );
}
