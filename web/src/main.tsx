import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { invalidator, keptEditsText, newQueryClient, onKeptEdits, stream } from "@/api";
import { newRouter } from "@/app/router";
import { Commands, CommandsContext } from "@/lib/commands";
import { applyTheme, toast, Toasts, TooltipProvider } from "@/ui";
import "@/ui/tokens.css";

applyTheme();
const client = newQueryClient();
const commands = new Commands();
stream.hearAll(invalidator(client));
onKeptEdits((sentences) => toast({ text: keptEditsText(sentences), meaning: "attention", lasting: true }));

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root.");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <CommandsContext value={commands}>
        <TooltipProvider delayDuration={400}>
          <RouterProvider router={newRouter()} />
          <Toasts />
        </TooltipProvider>
      </CommandsContext>
    </QueryClientProvider>
  </StrictMode>,
);
