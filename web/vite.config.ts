import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const api = process.env.FORGE_API ?? "http://127.0.0.1:3000";

/** The server only answers to its own name and to its own pages, so requests have to look as if they came from there. */
const proxied = {
  target: api,
  changeOrigin: true,
  ws: true,
  headers: { origin: api, "sec-fetch-site": "same-origin" },
};

/** Each of these is fetched when a screen needs it; together they are most of what there is. */
const LARGE = [
  // Without its languages and comparisons, of which each comes with the first file that needs it.
  {
    name: "editor",
    test: /node_modules\/(codemirror|@codemirror\/(state|view|commands|language|search|autocomplete|lint)|@lezer\/(common|highlight|lr)|@marijn|crelt|style-mod|w3c-keyname)\//,
  },
  { name: "chart", test: /node_modules\/uplot\// },
  { name: "markdown", test: /node_modules\/(marked|dompurify)\// },
];

/** A packed copy beside each file, so that the server packs nothing. */
function packed(): Plugin {
  let out = "";
  return {
    name: "packed",
    apply: "build",
    configResolved: (config) => {
      out = path.resolve(config.root, config.build.outDir);
    },
    closeBundle: () => {
      for (const name of readdirSync(out, { recursive: true, encoding: "utf8" })) {
        if (/\.(js|css|html|svg)$/.test(name)) {
          writeFileSync(path.join(out, `${name}.gz`), gzipSync(readFileSync(path.join(out, name)), { level: 9 }));
        }
      }
    },
  };
}

/**
 * The editor reads its text in slices: 20 ms of every keystroke and 100 ms of idle time, which is a task that is felt.
 * Shorter ones do the same work; a version that has no such places stops the build.
 */
function shortSlices(): Plugin {
  const slices = { "100 /* Work.Slice */": "20", "newCx.work(20 /* Work.Apply */": "newCx.work(8", "parseState.work(20 /* Work.Apply */": "parseState.work(8" };
  return {
    name: "short-slices",
    apply: "build",
    transform(code, id) {
      if (!/@codemirror\/language\/dist\/index\.js$/.test(id)) return null;
      return Object.entries(slices).reduce((now, [long, short]) => {
        if (!now.includes(long)) this.error(`@codemirror/language has no "${long}" any more`);
        return now.replace(long, short);
      }, code);
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwind(), packed(), shortSlices()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": proxied, "^/\\?token=": proxied } },
  build: {
    outDir: process.env.FORGE_WEB_OUT ?? "../src/forge/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            ...LARGE.map((group) => ({ ...group, priority: 20 })),
            { name: "frame", test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-query|query-core|react-router|router-core|history|react-store|store))\//, priority: 10 },
          ],
        },
      },
    },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}", "eslint/**/*.test.js"],
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    testTimeout: 30_000,
  },
});
