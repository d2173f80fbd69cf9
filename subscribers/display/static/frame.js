// A table's frame, the same for every game, around the body that the game draws.
//
// A game is a module with `draw(body, picture, compact)`, which returns elements, and optionally
// `describe(body)`, its result in words, and `legend()`, pairs of a mark and its meaning. `compact`
// is true for one of many tables on the screen.

import { h } from "./tree.js";
import { clock, money, page, speak, words } from "./page.js";
import * as baccarat from "./games/baccarat.js";
import * as boule from "./games/boule.js";
import * as boxes from "./games/boxes.js";
import * as circle from "./games/circle.js";
import * as craps from "./games/craps.js";
import * as fortune from "./games/fortune-wheel.js";
import * as roulette from "./games/roulette.js";
import * as trente from "./games/trente.js";

const GAMES = {
  boule,
  craps,
  "fortune-wheel": fortune,
  roulette,
  "punto-banca": baccarat,
  "chemin-de-fer": baccarat,
  "trente-et-quarante": trente,
  blackjack: boxes,
  "house-poker": boxes,
  trijoker: boxes,
  "texas-house": boxes,
  "pai-gow": boxes,
  "circle-poker": circle,
  "circle-draw": circle,
};

/**
 * The element of a table. `lost`: `{since}` while the server is silent, or null. `meters`: the
 * lines of the jackpots that the table is linked to.
 */
export function frame(picture, lost, compact = false, meters = /** @type {any[]} */ ([])) {
  speak(picture.language);
  const trouble = troubleOf(picture, lost);
  const game = GAMES[picture.view];
  return h(
    "article",
    {
      class: ["table", trouble && "before", compact && "compact"].filter(Boolean).join(" "),
      "data-table": picture.table,
      "data-view": picture.view,
      lang: picture.language,
    },
    head(picture, compact, meters),
    trouble ? broken(trouble) : strip(picture),
    h(
      "section",
      { class: `body ${picture.view}` },
      game && picture.body ? game.draw(picture.body, picture, compact) : null,
    ),
    below(picture, compact),
  );
}

/** The reason why a picture is not current, or null. */
export function troubleOf(picture, lost) {
  return lost ? { text: words("trouble.no_server"), since: lost.since } : picture.trouble;
}

/**
 * The elements shown before the first picture: none unless the server is silent (`lost`).
 */
export function unheard(lost) {
  if (!lost) return [];
  speak(page.own);
  return [broken(troubleOf(null, lost))];
}

/**
 * The state of a table in one sentence, for screen readers: its trouble or its last result.
 */
export function describe(picture, lost) {
  speak(picture.language);
  const trouble = troubleOf(picture, lost);
  if (trouble) return `${picture.title.text}: ${trouble.text}`;
  const game = GAMES[picture.view];
  return game?.describe && picture.body ? (game.describe(picture.body, picture) ?? "") : "";
}

/** The legend of a game's marks. */
export function legend(picture) {
  speak(picture.language);
  const marks = GAMES[picture.view]?.legend?.() ?? [];
  return h(
    "div",
    { lang: picture.language },
    h(
      "dl",
      {},
      marks.map(([mark, meaning]) => h("div", {}, h("dt", {}, mark), h("dd", {}, meaning))),
      h(
        "div",
        {},
        h("dt", {}, h("span", { class: "swatch-before" })),
        h("dd", {}, words("display.of_before")),
      ),
    ),
    h("p", {}, words("display.how_counted")),
  );
}

function head(picture, compact, meters) {
  const limits = picture.minimum !== null && picture.currency;
  return h(
    "header",
    {},
    h(compact ? "h2" : "h1", { lang: picture.title.language }, picture.title.text),
    h("span", { class: "soft name" }, picture.table),
    picture.simulated && h("span", { class: "simulated" }, words("display.simulated")),
    h(
      "span",
      { class: "facts" },
      limits &&
        h(
          "span",
          { class: "limits" },
          `${words("display.minimum")} `,
          h("b", {}, money(picture.minimum, picture.currency)),
        ),
      !compact &&
        picture.session > 0 &&
        h("span", { class: "soft" }, words("display.session", { session: picture.session })),
      picture.round > 0 &&
        h("span", { class: "soft" }, words("display.round", { round: picture.round })),
    ),
    meters.length > 0 && h("ul", { class: "meter-lines" }, meters),
  );
}

function strip(picture) {
  const open = ["bets_open", "antes"].includes(picture.phase.id);
  return h(
    "p",
    { class: `strip ${picture.closed ? "closed" : open ? "open" : ""}` },
    h("span", { class: "phase" }, picture.phase.text),
    picture.call && h("q", { lang: picture.call.language }, picture.call.text),
    picture.last_of_session && h("span", { class: "ending" }, words("display.last_of_session")),
    !picture.last_of_session &&
      picture.rounds_left > 0 &&
      h("span", { class: "ending" }, words("display.rounds_left", { count: picture.rounds_left })),
  );
}

function broken(trouble) {
  return h(
    "p",
    { class: "strip trouble" },
    h("span", { class: "phase" }, trouble.text),
    trouble.since &&
      h("span", { class: "since" }, words("display.since", { time: clock(trouble.since) })),
    trouble.detail && h("span", { class: "detail" }, trouble.detail),
  );
}

function below(picture, compact) {
  const notes = compact ? picture.notes.slice(0, 1) : picture.notes;
  const items = [
    picture.waits.length > 0 &&
      h(
        "li",
        { class: "waits" },
        words("display.waits_for", {
          commands: picture.waits.map((each) => each.text).join(" · "),
        }),
      ),
    ...picture.alerts.map((each) => h("li", { class: "alert" }, each.text)),
    ...notes.map((each) => h("li", { class: `note ${each.kind}` }, each.text)),
  ].filter(Boolean);
  return items.length > 0 && h("ul", { class: "below" }, items);
}
