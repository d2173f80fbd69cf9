// The pit console: pending items, the tables, and the commands of the chosen table.

import { at, byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { connect } from "../../static/connection.js";
import { cached, h, put } from "../../static/drawing.js";
import { TOO_LATE } from "../../static/request.js";
import { bellButton, ringFor } from "./bell.js";
import { card } from "./cards.js";
import { ask, asking, became, closeIfGone, sent } from "./dialog.js";
import { leave } from "./leave.js";
import { clock, page, post, words } from "./page.js";
import { receiptButtons } from "./receipts.js";
import { runAll } from "./running.js";
import { minimum, tile } from "./tiles.js";
import { forget, forgotten, remember, settled } from "./touches.js";

const places = new Map();
let chosen = location.hash.slice(1) || null;
/** @type {{since: string | null} | null} */
let connectionLost = null; // {since} while the server is silent
let received = false; // the server has sent every table
let failed = ""; // why the page's own last request failed
let sessionEnds = performance.now() + page.left * 1000;
let lastReported = -Infinity;
const deadlines = new Map(); // item -> when it expires

const status = h("p", { class: "status", role: "status" });
const ending = h("p", { class: "ending", role: "alert", hidden: true });
const notices = h("section", { class: "notices" });
const work = h("section", { class: "work", "aria-label": words("pit.work") });
const tables = h("nav", { class: "tables", "aria-label": words("pit.tables") });
const panel = h("section", { class: "panel" });

function draw() {
  document.body.classList.toggle("lost", connectionLost !== null);
  status.textContent = connectionLost
    ? [words("trouble.no_server"), connectionLost.since && clock(connectionLost.since)]
        .filter(Boolean)
        .join(" · ")
    : failed;
  const all = [...places.values()];
  for (const each of all.flatMap((place) => place.done)) {
    if (each.how === "sent") sent(each.number);
    if (!onTheWay(each) && each.how !== "unknown") {
      settled(each.number, each.receipt ? null : became(each));
    }
  }
  const items = all.flatMap((place) => place.items.map((item) => ({ place, item })));
  items.sort(
    (a, b) =>
      MOST_SERIOUS_FIRST.indexOf(a.item.what) - MOST_SERIOUS_FIRST.indexOf(b.item.what) ||
      a.item.since.localeCompare(b.item.since),
  );
  if (received) ringFor(items.map(({ item }) => item));
  put(work, [
    cached("work", items.length, (count) =>
      h("h2", {}, words("pit.work"), count > 0 && h("span", { class: "count" }, String(count))),
    ),
    ...(items.length
      ? items.map(({ place, item }) =>
          cached(item.id, [{ ...item, left: 0 }, place.title], () => itemCard(place, item)),
        )
      : [cached("nothing", 0, () => h("p", { class: "nothing" }, words("pit.nothing")))]),
  ]);
  put(notices, [
    ...all.flatMap((place) =>
      place.done
        .filter(
          (each) =>
            (each.how === "unknown" || each.receipt || each.summary) && !forgotten(each.number),
        )
        .map((each) =>
          cached(`notice ${each.number}`, each, () => notice(place.name, each, place.table)),
        ),
    ),
    ...old(),
  ]);
  put(
    tables,
    all.map((each) => tile(each, chosen, choose)),
  );
  const place = places.get(chosen);
  put(panel, place ? [commands(place)] : []);
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("[data-meter]")
  )) {
    each.textContent = places.get(each.dataset.meter).meter;
  }
  closeIfGone(
    (item) =>
      items.some((each) => each.item.id === item) ||
      all.some(({ awards }) => awards.some((each) => each.id === item)),
  );
}

const itemCard = (place, item) =>
  card(place, item, (answer) => ask(places.get(place.table), answer, item.id));

function choose(table) {
  chosen = table === chosen ? null : table;
  location.replace(`#${chosen ?? ""}`);
  draw();
  if (chosen && matchMedia("(max-width: 60rem)").matches) panel.scrollIntoView();
}

const onTheWay = ({ how }) => how === "sending" || how === "sent";
const PRESENCE_INTERVAL_MS = 20_000; // between two requests that report the person's presence
const MOST_SERIOUS_FIRST = ["second", "fault", "ask", "unresolved", "warning"];

/**
 * The chosen table and its commands. A piece is rebuilt only when it has changed, so that a button
 * stays under the finger.
 */
function commands(place) {
  const piece = (name, thing, make) => cached(`${name} of ${place.table}`, thing, make);
  const groups = new Map();
  for (const offer of place.offers) {
    const { group } = page.forms[offer.command];
    groups.set(group, [...(groups.get(group) ?? []), offer]);
  }
  const body = piece("panel", null, () => h("div"));
  put(
    body,
    [
      piece("name", [place.name, place.title, place.decree, place.simulated], () =>
        h(
          "h2",
          {},
          place.name,
          h("span", { class: "soft" }, ` ${place.title} · ${place.decree}`),
          place.simulated && h("span", { class: "simulated" }, words("display.simulated")),
        ),
      ),
      piece(
        "state",
        [place.status.text, place.phase.text, minimum(place)].filter(Boolean).join(" · "),
        (text) => h("p", { class: "soft" }, text),
      ),
      place.meter &&
        piece("meter", null, () =>
          h("p", {}, `${words("carrousel.meter")}: `, h("strong", { "data-meter": place.table })),
        ),
      place.staff.length > 0 &&
        piece("staff", place.staff.map((each) => `${each.id}: ${each.text}`).join(" · "), (text) =>
          h("p", { class: "soft" }, text),
        ),
      place.trouble &&
        piece("trouble", place.trouble, ({ text, since }) =>
          h(
            "p",
            { class: "trouble" },
            text,
            since && ` · ${words("display.since", { time: clock(since) })}`,
          ),
        ),
      place.awards.length > 0 &&
        piece("awards", null, () => h("h3", {}, words("carrousel.awards"))),
      ...place.awards.map((award) =>
        piece(award.id, [award, place.name], () => itemCard(place, award)),
      ),
      ...[...groups].map(([group, offers]) => {
        const set = piece(`group ${group}`, null, () =>
          h(
            "fieldset",
            {},
            h("legend", {}, words(`group.${group}`)),
            h("div", { class: "answers" }),
          ),
        );
        put(
          set.lastElementChild,
          offers.map(({ command }) => piece(command, null, () => offered(place.table, command))),
        );
        return set;
      }),
      place.done.length > 0 && piece("done", null, () => h("h3", {}, words("pit.done"))),
      piece("all done", place.done, (done) =>
        h(
          "ul",
          { class: "done" },
          done.map((each) =>
            h(
              "li",
              { class: each.how },
              h("span", {}, each.text),
              h("strong", {}, words(`pit.${each.how}`)),
              each.why && h("span", {}, each.why),
              each.receipt && h("span", {}, each.receipt),
              each.undo &&
                h(
                  "button",
                  { type: "button", click: () => ask(places.get(place.table), each.undo, null) },
                  each.undo.text,
                ),
            ),
          ),
        ),
      ),
    ].filter(Boolean),
  );
  return body;
}

function offered(table, command) {
  const { text, grave } = page.forms[command];
  return h(
    "button",
    {
      type: "button",
      "data-command": command,
      click: () => {
        const place = places.get(table);
        const { two, may_take_two } = place.offers.find((each) => each.command === command);
        ask(place, { command, text, grave, open: true, two, may_take_two }, null);
      },
    },
    text,
  );
}

/**
 * A command without a reply, a receipt of money or the summary of a session: shown until the person
 * has read it.
 */
function notice(name, each, table) {
  const paper = each.receipt ?? each.summary;
  return h(
    "article",
    { class: paper ? "notice paid" : "notice", role: "alert", "data-number": each.number },
    h("strong", {}, name, " · ", each.text),
    h("p", {}, paper ?? each.why ?? words(each.how ? "pit.unknown" : "pit.lost")),
    each.receipt_path && receiptButtons(each.receipt_path),
    each.summary &&
      h(
        "p",
        {},
        h(
          "a",
          { class: "button", href: at(`/table/${table}/days`), target: "_blank", rel: "noopener" },
          words("pit.sheet"),
        ),
      ),
    each.found && h("p", {}, each.found),
    h(
      "button",
      {
        type: "button",
        click: () => {
          forget(each.number);
          draw();
        },
      },
      words("pit.close"),
    ),
  );
}

/** Commands sent before the page or the server restarted that had no reply. */
const TRUTH_DEADLINE_MS = 15_000; // the server asks the table
const asked = new Set();
const before = new Map(remember().map((each) => [each.number, each]));

function old() {
  const known = new Set(
    [...places.values()].flatMap((place) =>
      place.done.filter((each) => !onTheWay(each)).map((each) => each.number),
    ),
  );
  return [...before.values(), ...remember().filter((each) => each.lost || each.why)]
    .filter(
      (each, index, all) =>
        (each.why || !known.has(each.number)) &&
        !forgotten(each.number) &&
        all.findIndex((other) => other.number === each.number) === index,
    )
    .map((each) => {
      if (before.has(each.number)) findOut(each);
      return cached(`notice ${each.number}`, each, () => notice(each.table, each));
    });
}

/** Ask which commands the person has signed at the table since a touch of an earlier page. */
function findOut(record) {
  const { number, table, boot, seq } = record;
  if (record.why || record.found || asked.has(number) || !places.has(table)) return;
  asked.add(number);
  post("/pit/truth", { table, boot, seq }, { deadline: TRUTH_DEADLINE_MS }).then(
    ({ status: code, body }) => {
      if (code === 0) asked.delete(number);
      if (!body?.events) return;
      before.set(number, {
        ...record,
        found: body.events.length
          ? words("pit.found", { events: body.events.join(", ") })
          : words("pit.found_nothing"),
      });
      draw();
    },
  );
}

function onPlace(place) {
  places.set(place.table, place);
  for (const each of place.items) {
    if (each.left !== undefined) deadlines.set(each.id, performance.now() + each.left * 1000);
  }
  received ||= page.tables.every((table) => places.has(table));
  draw();
}

async function here({ timeStamp }) {
  if (timeStamp - lastReported < PRESENCE_INTERVAL_MS) return;
  lastReported = timeStamp;
  const { status: code, body } = await post("/pit/here", {}, { touch: touch(timeStamp) });
  if (body) sessionEnds = performance.now() + body.left * 1000;
  if (code === 401) location.reload();
  if (code !== 200) lastReported = -Infinity;
}

setInterval(() => {
  runAll();
  // the server removes expired items
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".until"))) {
    each.textContent = words("pit.left", {
      seconds: Math.max(
        0,
        Math.round((deadlines.get(each.dataset.left) - performance.now()) / 1000),
      ),
    });
  }
  const left = Math.round((sessionEnds - performance.now()) / 1000);
  ending.hidden = left > 30;
  ending.textContent = words("pit.ending", { seconds: Math.max(0, left) });
  if (left < 0 && !asking()) loadAgain();
}, 1000);

const language = h(
  "select",
  {
    "aria-label": words("pit.language"),
    change: async () => {
      const { status: code } = await post("/pit/language", { language: language.value });
      if (code === 200) return location.reload();
      language.value = page.language;
      failed = words(code === TOO_LATE ? "pit.late" : code ? "pit.refused" : "pit.no_answer");
      draw();
    },
  },
  Object.entries(page.languages).map(([id, name]) =>
    h("option", { value: id, selected: id === page.language }, name),
  ),
);

byId("main").replaceChildren(
  h(
    "header",
    { class: "bar" },
    h("h1", {}, words("pit.title"), " · ", page.site),
    h(
      "span",
      { class: "person" },
      page.name,
      h(
        "span",
        { class: "soft" },
        ` ${page.roles.map((role) => words(`role.${role}`)).join(", ")}`,
      ),
    ),
    bellButton(),
    language,
    h(
      "button",
      { type: "button", class: "out", click: () => leave(post, words, "/pit") },
      words("pit.sign_out"),
    ),
  ),
  status,
  ending,
  h("div", { class: "columns" }, h("div", {}, notices, work), h("div", {}, tables, panel)),
);
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, here);
draw();
connect(
  { path: "/pit/stream", query: `of=${page.tag}` },
  { picture: onPlace, jackpot: onPlace },
  (since) => {
    connectionLost = since;
    draw();
  },
  loadAgain, // signed out, or the server restarted: the sign-in page shows which
);
window.addEventListener("novamas-touched", draw);
