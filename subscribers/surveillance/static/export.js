// Exports what the list shows: CSV and PDF with a statement, signed with the person's key.

import { h } from "../../static/drawing.js";
import { post, words } from "./asking.js";

const DEADLINE_MS = 120_000; // thousands of records are set as paper

/** The control. `shown()`: the search that the list shows, and its newest record. */
export function exporting(shown) {
  const message = h("p", { class: "exported", role: "status" });
  const pin = h("input", {
    type: "password",
    name: "export_pin",
    inputmode: "numeric",
    maxlength: 12,
    required: true,
    autocomplete: "off",
  });
  const go = h("button", { type: "submit", class: "main" }, words("page.export_go"));
  return h(
    "details",
    { class: "export" },
    h("summary", {}, words("page.export")),
    h("p", { class: "soft" }, words("page.export_what")),
    h("form", { submit }, h("label", {}, words("page.pin_again"), pin), go),
    message,
  );

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    message.textContent = "";
    const { query, through } = shown();
    const { body, text, status } = await post(
      `/surveillance/export?${query}`,
      { through, pin: pin.value },
      { deadline: DEADLINE_MS },
    );
    pin.value = "";
    go.disabled = false;
    if (body?.ok) {
      save(body.name, body.data);
      message.textContent = words("page.exported", { count: body.records, name: body.name });
    } else {
      message.textContent = body?.text || text || words("page.trouble", { why: status });
    }
  }
}

function save(name, data) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/zip" }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
