// The page of all tables and jackpots. On a wall, tiles fill the screen; on a floor, the page
// scrolls and the jackpots are above the tables. With `rotate` the tiles take turns.

import { byId } from "./base.js";
import { Choreography } from "./choreography.js";
import { readFromDistance } from "./distance.js";
import { frame, troubleOf, unheard } from "./frame.js";
import { bar, screen, tile as meterTile } from "./meter.js";
import { address, kiosk, page, rotate, speak, stayOn, together, words } from "./page.js";
import { rolling } from "./rolling.js";
import { listen } from "./stream.js";
import { create, draw, h } from "./tree.js";

const TILE_RATIO = 1.5; // preferred width / height of a tile
const MIN_TILE_HEIGHT = 230; // pixels
const MIN_TILE_WIDTH = 300;
const UNEVEN = 0.12; // how much worse rows of two lengths are

const main = byId("main");
const foot = byId("foot");
const wall = page.kind === "wall";
const JACKPOT = "jackpot/";
const pictures = new Map();
const names = [...(wall ? page.jackpots.map((jackpot) => JACKPOT + jackpot) : []), ...page.tables];
const tiles = new Map(
  names.map((name) => [
    name,
    tile(name.startsWith(JACKPOT) ? `/${name}` : `/table/${encodeURIComponent(name)}`),
  ]),
);
const bars = new Map(
  wall
    ? []
    : page.jackpots.map((jackpot) => [
        JACKPOT + jackpot,
        create(kiosk ? h("div", {}) : h("a", { href: address(`/${JACKPOT}${jackpot}`) })),
      ]),
);
const grid = create(h("div", { class: "tables" }, [...tiles.values()]));
const choreographies = new Map(
  page.tables.map((table) => [table, new Choreography(tiles.get(table))]),
);
const drawn = new Map(); // table -> its picture as it was drawn
let lost = null;
let part = 0;
let paused = false;
let many = true;

function tile(path) {
  return create(
    kiosk || wall ? h("div", { class: "tile" }) : h("a", { class: "tile", href: address(path) }),
  );
}

function show(name) {
  const picture = pictures.get(name);
  const place = bars.get(name) ?? tiles.get(name);
  if (!picture) return draw(place, unheard(lost));
  if (bars.has(name)) rolling(place, () => draw(place, bar(picture, lost)));
  else if (name.startsWith(JACKPOT)) {
    rolling(place, () => draw(place, (many ? meterTile : screen)(picture, lost)));
  } else {
    const current = { ...picture, trouble: troubleOf(picture, lost) };
    choreographies
      .get(name)
      .show(drawn.get(name), current, () => draw(place, frame(picture, lost, many)));
    drawn.set(name, current);
  }
}

/** The number of tiles shown together. */
function shown() {
  if (!rotate) return names.length;
  if (together) return together;
  return wall
    ? 1
    : Math.max(
        1,
        Math.floor(innerHeight / MIN_TILE_HEIGHT) *
          Math.max(1, Math.floor(innerWidth / (MIN_TILE_HEIGHT * TILE_RATIO))),
      );
}

/** The number of rows that brings `count` tiles nearest to `TILE_RATIO`. */
function rowsFor(count, height) {
  const odd = (rows) => {
    const shape = innerWidth / (count / rows) / (height / rows);
    return Math.abs(Math.log(shape / TILE_RATIO)) + (count % rows ? UNEVEN : 0);
  };
  return Array.from({ length: count }, (_, index) => index + 1).reduce((best, each) =>
    odd(each) < odd(best) ? each : best,
  );
}

function arrange() {
  const count = Math.max(1, Math.min(shown(), names.length));
  const parts = Math.ceil(names.length / count) || 1;
  part %= parts;
  many = count > 1;
  names.forEach((name, index) => {
    tiles.get(name).hidden = Math.floor(index / count) !== part;
    show(name);
  });
  fill([...tiles.values()].filter((each) => !each.hidden));
}

/**
 * Fill the screen with these tiles: rows of equal length, or of two lengths that differ by one. A
 * floor on which tiles would be too small scrolls.
 */
function fill(visible) {
  const height = innerHeight - (wall ? 0 : grid.getBoundingClientRect().top + scrollY);
  const rows = rowsFor(visible.length, height);
  const short = Math.floor(visible.length / rows);
  const long = visible.length - short * rows; // rows that have one more
  const small =
    height / rows < MIN_TILE_HEIGHT || innerWidth / (short + (long ? 1 : 0)) < MIN_TILE_WIDTH;
  grid.classList.toggle("fills", wall || !small);
  grid.style.setProperty("--columns", String(long ? short * (short + 1) : short));
  grid.style.setProperty("--rows", String(rows));
  visible.forEach((each, index) => {
    const span = long ? (index < long * (short + 1) ? short : short + 1) : 1;
    each.style.setProperty("--span", String(span));
  });
}

function turn() {
  if (paused) return;
  part += 1;
  arrange();
}

function pause() {
  paused = !paused;
  foot.querySelector("button")?.replaceChildren(words(paused ? "display.go_on" : "display.pause"));
}

stayOn();
readFromDistance();
draw(
  main,
  bars.size > 0 &&
    h(
      "ul",
      { class: "meters" },
      [...bars.values()].map((each) => h("li", {}, each)),
    ),
  grid,
);
arrange();
addEventListener("resize", arrange);
if (rotate) {
  setInterval(turn, rotate * 1000);
  addEventListener("keydown", (event) => {
    if (event.key === " " && event.target === document.body) pause();
  });
  speak(page.own);
  if (!kiosk) {
    draw(foot, h("button", { type: "button", click: pause }, words("display.pause")));
  }
}
listen(
  (picture) => {
    pictures.set(picture.table, picture);
    show(picture.table);
  },
  (since) => {
    lost = since;
    [...names, ...bars.keys()].forEach(show);
  },
  (picture) => {
    pictures.set(JACKPOT + picture.jackpot, picture);
    show(JACKPOT + picture.jackpot);
  },
  (motion) => {
    if (!tiles.get(motion.table)?.hidden) choreographies.get(motion.table)?.onMotion(motion);
  },
);
