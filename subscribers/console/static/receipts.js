// The receipt of a payment: as PDF, and at the printer of the server.

import { at } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { page, post, words } from "./page.js";

const PRINT_DEADLINE_MS = 30_000; // the server reads the ledger first

/** The ways to print the receipt at `path`. */
export function receiptButtons(path) {
  const message = h("span", { role: "status" });
  const [jackpot, number] = path.split("/").slice(-2);
  const print = h(
    "button",
    {
      type: "button",
      class: "main",
      "data-do": "print",
      click: async () => {
        print.disabled = true;
        const { status, body } = await post(
          "/pit/receipt",
          { jackpot, number: Number(number) },
          { deadline: PRINT_DEADLINE_MS },
        );
        print.disabled = false;
        const done = status === 200 && body.ok;
        message.textContent = done
          ? words("carrousel.printed")
          : (body?.text ?? words("carrousel.not_printed"));
      },
    },
    words("carrousel.print"),
  );
  return h(
    "div",
    { class: "answers" },
    page.has_printer && print,
    h(
      "a",
      { class: "button", href: at(path), target: "_blank", rel: "noopener" },
      words("carrousel.receipt_pdf"),
    ),
    message,
  );
}
