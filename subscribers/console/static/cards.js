// What waits for a person, each as a card: the question, its evidence, and the answers.

import { h } from "../../static/drawing.js";
import { change } from "./change.js";
import { clip } from "./clip.js";
import { clock, page, words } from "./page.js";
import { run } from "./running.js";

/** The card of an item. `answer(answer)` is called when a person touches one. */
export function card({ table, name, session }, item, answered) {
  return h(
    "article",
    { class: `item ${item.what}`, "data-item": item.id, "data-table": table },
    h(
      "header",
      {},
      h("strong", {}, name),
      item.round && h("span", {}, words("display.round", { round: item.round })),
      h("time", { datetime: item.since }, clock(item.since)),
      run(h("span", { class: "running" }), item.since),
      item.left !== undefined && h("span", { class: "until", "data-left": item.id }),
    ),
    h("h3", {}, item.title),
    item.detail && h("p", { lang: item.detail_language }, item.detail),
    item.correction && change(item.correction),
    item.says?.map((each) => h("p", {}, `${each.id}: `, h("strong", {}, each.text))),
    page.clips && item.round && item.answers?.length > 0 && clip(table, session, item.round),
    article(item),
    frames(item),
    [false, true].map((open) =>
      h(
        "div",
        { class: "answers" },
        (item.answers ?? [])
          .filter((answer) => Boolean(answer.open) === open)
          .map((answer) => button(answer, look(answer, item), answered)),
      ),
    ),
    item.others && h("p", { class: "soft" }, words("pit.others", { roles: item.others })),
  );
}

/** The look of an answer: only one that the evidence suggests, or the only one, is filled. */
function look(answer, item) {
  if (answer.open) return "soft";
  const closed = item.answers.filter((each) => !each.open);
  return answer.recommended || closed.length === 1 ? "main" : "main outlined";
}

function button(answer, kind, answered) {
  return h(
    "button",
    {
      type: "button",
      class: kind,
      "data-command": answer.command,
      click: () => answered(answer),
    },
    answer.text,
  );
}

function article({ article: cited, printed }) {
  return (
    cited &&
    h(
      "details",
      { open: true },
      h("summary", {}, words("pit.article"), ": ", h("cite", { lang: printed?.language }, cited)),
      printed && h("blockquote", { lang: printed.language }, printed.words),
    )
  );
}

function frames({ frames: sent }) {
  return (
    sent?.length > 0 &&
    h(
      "details",
      { open: true },
      h("summary", {}, words("pit.frames")),
      h(
        "ol",
        { class: "frames" },
        sent.map((frame) =>
          h(
            "li",
            {},
            h("code", {}, frame.frame),
            frame.device && ` · ${words(`device.${frame.device}`)}`,
          ),
        ),
      ),
    )
  );
}
