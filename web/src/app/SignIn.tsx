import { useState, type SyntheticEvent } from "react";

import { useSignIn } from "@/api";
import { Button, ErrorState, Input } from "@/ui";

/** The token or key out of whatever was pasted: the whole address will do. */
export function tokenOf(pasted: string): string {
  const text = pasted.trim();
  return /[?&]token=([^&\s]+)/.exec(text)?.[1] ?? text;
}

export function SignIn() {
  const signIn = useSignIn();
  const [pasted, setPasted] = useState("");
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    signIn.mutate(tokenOf(pasted));
  };
  return (
    <main className="mx-auto flex h-full max-w-104 flex-col justify-center gap-4 px-6">
      <div>
        <h1 className="text-2xl font-semibold">Sign in to Forge</h1>
        <p className="text-muted">
          This browser is not known here. Run <code className="rounded-sm bg-surface-2 px-1 font-mono text-xs">forge serve</code> in a terminal
          and open the address that it prints, or paste it below.
        </p>
      </div>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Input label="Address, token or key" type="password" autoFocus value={pasted} onChange={(event) => setPasted(event.target.value)} />
        <Button kind="primary" type="submit" busy={signIn.isPending} disabled={pasted.trim() === ""}>
          Sign in
        </Button>
      </form>
      {signIn.error !== null && <ErrorState compact error={signIn.error} />}
    </main>
  );
}
