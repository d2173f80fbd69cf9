// Surveillance: a timeline, a list, and a round in detail.

import { byId } from "../../static/base.js";
import { serverTime, touch } from "../../static/beats.js";
import { connectAlone } from "../../static/connection.js";
import { h } from "../../static/drawing.js";
import { leave } from "../../pit/static/leave.js";
import { get, page, post, SIGNS, words } from "./asking.js";
import { peoplePicker } from "./people.js";
import { chips, LAST, timeField } from "./periods.js";
import { exporting } from "./export.js";
import { event, named, round } from "./round.js";
import { draw, same } from "./timeline.js";
import { clockText, dayText, moment, zoneText } from "./times.js";

const DEFAULT_PERIOD = "1h";
const MIN_SPAN_MS = 60_000;
const RETRY_MS = 2000;
const PRESENCE_INTERVAL_MS = 20_000; // between two requests that report the person's presence
const loaded = performance.now();
let ends = loaded + page.left * 1000;
let touched = loaded;
let searchNumber = 0;
/** @type {{table: string, session: string, round: string} | null} */
let chosen = null;
let items = [];
let timeline = () => {}; // draws what was found last
let listed = { query: new URLSearchParams(), through: 0 }; // the search that the list shows
let news = 0;
/** @type {number | null} */
let newest = null; // the last record that was listed or announced
let streamStart = 0; // the record after which the stream announces every one

const parameters = new URLSearchParams(location.search);
const option = (value, text) => h("option", { value }, text);
const table = h(
  "select",
  {},
  option("", words("page.all_tables")),
  page.tables.map((each) => option(each, each)),
);
const what = h(
  "select",
  {},
  option("", words("page.everything")),
  page.whats.map(([group, choices]) => {
    const options = choices.map((each) => option(each.id, each.text));
    return group ? h("optgroup", { label: group }, options) : options;
  }),
);
let period = DEFAULT_PERIOD; // the chip that is chosen; empty: the times in the fields
const from = timeField(now, edited);
const to = timeField(now, edited);
const periods = chips(choosePeriod);
const people = peoplePicker();
const article = h("input", { type: "text", maxlength: 128, autocomplete: "off" });
const filters = { table, what, article };
const status = h("p", { class: "status", role: "status" });
const ending = h("p", { class: "ending", role: "alert", hidden: true });
const line = h("section", { class: "timeline", "aria-label": words("page.timeline") });
const fresh = h("button", {
  type: "button",
  hidden: true,
  click: () => (to.time() === null ? search() : choosePeriod(DEFAULT_PERIOD)),
});
const rows = h("tbody");
const further = h(
  "button",
  { type: "button", hidden: true, click: () => list(true) },
  words("page.more"),
);
const none = h("p", { class: "soft", hidden: true }, words("page.nothing"));
const detail = h(
  "section",
  { class: "detail", "aria-label": words("page.detail"), tabindex: "-1" },
  h("p", { class: "soft" }, words("page.choose")),
);

/** The server's time, in milliseconds since 1970: this machine's clock may be wrong. */
function now() {
  return serverTime() ?? page.now + performance.now() - loaded;
}

/** The span of the timeline, in milliseconds since 1970. */
function span() {
  const end = to.time() ?? now();
  if (period in LAST) return [end - LAST[period], end];
  const begin = from.time() ?? end - LAST[DEFAULT_PERIOD];
  return begin < end ? [begin, end] : [end - LAST[DEFAULT_PERIOD], end];
}

function edited() {
  period = "";
  periods.press(period);
}

async function choosePeriod(id) {
  if (id in LAST) {
    from.put(null);
    to.put(null);
  } else {
    const { body, ...failed } = await get("/surveillance/periods", query());
    if (!body) return trouble(failed);
    if (!body[id]) return trouble({ status: 0, text: words("page.no_period") });
    from.put(Date.parse(body[id].since));
    to.put(body[id].until === null ? null : Date.parse(body[id].until));
  }
  period = id;
  search();
}

function query() {
  const [begin] = span();
  const found = new URLSearchParams();
  for (const [name, input] of Object.entries(filters)) {
    if (input.value.trim()) found.set(name, input.value.trim());
  }
  const [filter, name] = people.parameter();
  if (name) found.set(filter, name);
  found.set("from", new Date(begin).toISOString());
  const end = to.time();
  if (end !== null) found.set("to", new Date(end).toISOString());
  return found;
}

/**
 * Store the search in the page's address, so that it can be sent to a colleague. It has no card.
 */
function remember() {
  const mine = query();
  if (period in LAST) {
    mine.delete("from");
    if (period !== DEFAULT_PERIOD) mine.set("last", period);
  }
  for (const [name, value] of Object.entries(chosen ?? {})) mine.set(`of_${name}`, value);
  history.replaceState(null, "", `?${mine}`);
}

async function search() {
  const number = ++searchNumber;
  const [begin, end] = span();
  news = 0;
  fresh.hidden = true;
  remember();
  periods.press(period);
  if (period in LAST) from.put(begin);
  const [drawn, found, known] = await Promise.all([
    get("/surveillance/timeline", query()),
    list(false),
    get("/surveillance/people", query()),
  ]);
  if (number !== searchNumber) return;
  if (passes(drawn) || passes(found) || passes(known)) {
    setTimeout(() => number === searchNumber && search(), RETRY_MS);
  }
  if (known.body) people.fill(known.body);
  if (!drawn.body) return trouble(drawn);
  timeline = () => {
    const lanes = table.value ? [table.value] : page.tables;
    const size = { begin, end, width: lineWidth() };
    line.replaceChildren(...draw(drawn.body, lanes, size, chosen, open));
  };
  timeline();
}

/** The width of a table's line in the timeline: what its name leaves. */
function lineWidth() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const names = matchMedia("(max-width: 62rem)").matches ? 5.5 : 8.5;
  return Math.max(120, line.clientWidth - 2 * rem - names * rem - 2);
}

async function list(further_) {
  const number = searchNumber;
  const asking = query();
  const last = items[items.length - 1];
  if (further_ && last) {
    asking.set("beyond", `${last.time},${last.number}`);
    asking.set("through", String(listed.through));
  }
  const answer = await get("/surveillance/records", asking);
  const { body } = answer;
  if (number !== searchNumber) return answer;
  if (!body) {
    trouble(answer);
    return answer;
  }
  status.textContent = "";
  if (!further_) {
    listed = { query: asking, through: body.through };
    reach(body.newest);
  }
  items = further_ ? [...items, ...body.items] : body.items;
  further.hidden = !body.more;
  none.hidden = items.length > 0;
  const made = body.items.map(row);
  if (further_) rows.append(...made);
  else rows.replaceChildren(...made);
  return answer;
}

/** True if a retry may succeed: no response, or an error of the server. */
function passes({ status: code }) {
  return code === 0 || code >= 500;
}

function trouble({ status: code, text }) {
  status.textContent = text || words("page.trouble", { why: code });
}

/** The round of a record, or null. */
function place(item) {
  return item.table && item.session && item.round
    ? { table: item.table, session: item.session, round: item.round }
    : null;
}

/** The time of a record in the list: with its day only where it is not today's. */
function listedTime(time) {
  const today = dayText(time) === dayText(now());
  return today ? clockText(time) : `${dayText(time)} ${clockText(time)}`;
}

function row(item) {
  const roundPlace = place(item);
  return h(
    "tr",
    { class: roundPlace && same(roundPlace, chosen) ? "chosen" : null, "data-number": item.number },
    h(
      "td",
      { class: "time" },
      h("time", { datetime: item.time, title: moment(item.time, true) }, listedTime(item.time)),
    ),
    h(
      "td",
      {},
      item.table || item.node || item.site,
      roundPlace && h("span", { class: "soft" }, ` ${item.session}/${item.round}`),
    ),
    h(
      "td",
      {},
      h(
        "div",
        { class: "of" },
        h("span", { class: `sign ${item.mark}`, "aria-hidden": "true" }, SIGNS[item.mark]),
        h(
          "button",
          { type: "button", click: () => (roundPlace ? open(roundPlace) : alone(item)) },
          item.title,
        ),
        item.simulated && h("span", { class: "simulated" }, words("page.simulated")),
      ),
    ),
    h("td", {}, item.article),
    h("td", {}, item.by),
  );
}

async function open(roundPlace) {
  const mine = { table: roundPlace.table, session: roundPlace.session, round: roundPlace.round };
  chosen = mine;
  mark();
  remember();
  const { body, ...failed } = await get("/surveillance/round", new URLSearchParams(mine));
  if (mine !== chosen) return;
  if (!body) {
    if (passes(failed)) setTimeout(() => mine === chosen && open(roundPlace), RETRY_MS);
    return trouble(failed);
  }
  show(named(mine), round(mine, body));
}

/** A record that belongs to no round. */
function alone(item) {
  chosen = null;
  mark();
  remember();
  show(item.title, [
    h("h2", {}, item.title),
    h(
      "p",
      { class: "soft" },
      h("time", { datetime: item.time }, moment(item.time, true)),
      ` · ${item.table || item.node || item.site}`,
    ),
    h("ol", { class: "events" }, event(item, {})),
  ]);
}

function mark() {
  for (const each of rows.children) {
    const roundPlace = place(items.find((item) => String(item.number) === each.dataset.number));
    each.classList.toggle("chosen", roundPlace !== null && same(roundPlace, chosen));
  }
}

function show(name, children) {
  detail.setAttribute("aria-label", name);
  detail.replaceChildren(...children);
  detail.scrollTop = 0;
  if (matchMedia("(max-width: 62rem)").matches) detail.scrollIntoView();
  detail.focus({ preventScroll: true });
}

function move(by, zoom = 1) {
  const [begin, end] = span();
  const wide = Math.max(MIN_SPAN_MS, (end - begin) * zoom);
  const middle = (begin + end) / 2 + by * (end - begin);
  edited();
  from.put(middle - wide / 2);
  to.put(middle + wide / 2);
  search();
}

/** Every record up to this one is listed, unless the stream started after it. */
function reach(number) {
  newest = number;
  if (number < streamStart) search();
  streamStart = 0;
}

function streamBegins(number) {
  streamStart = number;
  if (newest !== null) reach(newest);
}

function add(update) {
  newest = update.newest;
  if (table.value && !update.tables.includes(table.value)) return;
  news += update.count;
  fresh.textContent = words("page.new", { count: news });
  fresh.hidden = false;
}

function onLink(since) {
  if (since) status.textContent = words("page.no_server");
  else if (status.textContent === words("page.no_server")) status.textContent = "";
}

async function here({ timeStamp }) {
  if (timeStamp - touched < PRESENCE_INTERVAL_MS) return;
  touched = timeStamp;
  const { body } = await post("/pit/here", {}, { touch: touch(timeStamp) });
  if (body) ends = performance.now() + body.left * 1000;
  else touched = -Infinity;
}

setInterval(() => {
  const left = Math.round((ends - performance.now()) / 1000);
  ending.hidden = left > 30;
  ending.textContent = words("pit.ending", { seconds: Math.max(0, left) });
  if (left < 0) loadAgain();
}, 1000);

const language = h(
  "select",
  {
    "aria-label": words("pit.language"),
    change: async () => {
      const answer = await post("/pit/language", { language: language.value });
      if (answer.status === 200) return location.reload();
      language.value = page.language;
      trouble(answer);
    },
  },
  Object.entries(page.languages).map(([id, name]) =>
    h("option", { value: id, selected: id === page.language }, name),
  ),
);

const MOVES = [
  ["earlier", () => move(-0.5)],
  ["later", () => move(0.5)],
  ["zoom_in", () => move(0, 0.5)],
  ["zoom_out", () => move(0, 2)],
];

byId("main").replaceChildren(
  h(
    "header",
    { class: "bar" },
    h("h1", {}, words("page.title"), " · ", page.site),
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
    language,
    h(
      "button",
      { type: "button", class: "out", click: () => leave(post, words, "/surveillance") },
      words("pit.sign_out"),
    ),
  ),
  status,
  ending,
  h(
    "form",
    {
      class: "filters",
      submit: (submitted) => {
        submitted.preventDefault();
        search();
      },
    },
    Object.entries({
      table,
      from: from.input,
      to: to.input,
      what,
      article,
      person: people.select,
    }).map(([name, input]) => {
      input.name = name;
      return h("label", {}, words(`page.${name}`), input);
    }),
    h("button", { type: "submit", class: "main" }, words("page.search")),
    periods.element,
    h(
      "span",
      { class: "moves" },
      MOVES.map(([name, click]) =>
        h("button", { type: "button", "data-do": name, click }, words(`page.${name}`)),
      ),
    ),
  ),
  line,
  h(
    "div",
    { class: "columns" },
    h(
      "section",
      { "aria-label": words("page.list") },
      h(
        "div",
        { class: "head" },
        h("h2", {}, words("page.list")),
        fresh,
        exporting(() => listed),
      ),
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["time", "table", "what", "article", "said_by"].map((name) =>
              h(
                "th",
                { scope: "col" },
                words(`page.${name}`),
                name === "time" && ` ${zoneText(now())}`,
              ),
            ),
          ),
        ),
        rows,
      ),
      none,
      further,
    ),
    detail,
  ),
);
for (const [name, input] of Object.entries(filters)) {
  input.value = parameters.get(name) ?? "";
}
if (parameters.has("from") || parameters.has("to")) period = "";
else if ((parameters.get("last") ?? "") in LAST) period = parameters.get("last") ?? "";
for (const [name, field] of Object.entries({ from, to })) {
  const time = Date.parse(parameters.get(name) ?? "");
  if (!Number.isNaN(time)) field.put(time);
}
for (const name of ["on_duty", "person"]) {
  if (parameters.get(name)) people.choose(`${name}:${parameters.get(name)}`);
}
for (const input of [table, what, people.select]) input.addEventListener("change", search);
addEventListener("resize", () => timeline());
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, here);
if (parameters.has("of_round")) {
  open({
    table: parameters.get("of_table"),
    session: Number(parameters.get("of_session")),
    round: Number(parameters.get("of_round")),
  });
}
search();
// if the stream is refused, the person may have signed out: a request finds out
const stream = () => `/surveillance/stream${newest === null ? "" : `?after=${newest}`}`;
connectAlone(stream, { begin: streamBegins, new: add, trouble: () => {} }, onLink, () =>
  get("/surveillance/records", query()),
);
