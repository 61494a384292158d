import { expect, test } from "vitest";

import { toHtml } from "./MarkdownText";

test("nothing that runs or loads from elsewhere comes through", () => {
  const html = toHtml('<img src=x onerror=alert(1)> <script>alert(1)</script> [x](javascript:alert(1)) ![p](https://e.org/p.png) <a href="#" style="x" onclick="y">z</a>');
  expect(html).not.toMatch(/onerror|<script|javascript:|<img|onclick|style=/);
  expect(html).toContain('href="https://e.org/p.png"');
});

test("code keeps its text and gets a button that copies", () => {
  const html = toHtml("```py\nif a < b: pass\n```");
  expect(html).toContain("data-copy");
  expect(html).toContain("if a &lt; b: pass");
});
