// What a table's screen shows of the house: its logo or name, and pictures while nothing happens at
// the table.

import { at } from "./base.js";
import { page } from "./page.js";
import { h } from "./tree.js";

const PICTURE_SECONDS = 12;
const IDLE = ["closed", "waiting", "waiting_shooter", "no_shoe", "shoe_over"];

/** The logo of the house, or its name, or nothing. */
export function sign() {
  const { name, logo } = page.house;
  if (logo) return h("img", { class: "house", src: at("/house/logo"), alt: name ?? "" });
  return name && h("span", { class: "house" }, name);
}

/** The picture of the house for a table at which nothing happens; an event pushes it aside. */
export function media(picture, trouble) {
  const { media: files } = page.house;
  if (files.length === 0 || trouble || !IDLE.includes(picture.phase.id)) return null;
  const turn = Math.floor(performance.now() / 1000 / PICTURE_SECONDS) % files.length;
  return h(
    "figure",
    { class: "media" },
    h("img", { "data-key": files[turn], src: at(files[turn]), alt: "" }),
  );
}

/** Call `show` whenever the next picture is to be shown. */
export function everyPicture(show) {
  if (page.house.media.length > 1) setInterval(show, PICTURE_SECONDS * 1000);
}
