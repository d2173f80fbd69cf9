// The clip of a round beside the question about it, where this server has recordings.

import { at } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { words } from "./page.js";

const CUT_DEADLINE_MS = 60_000; // the server cuts one clip at a time

/** A button that becomes the clip of a round: silent, and played again until the card goes. */
export function clip(table, session, round) {
  const message = h("span", { role: "status" });
  const place = h("div", { class: "clip" });
  const button = h(
    "button",
    {
      type: "button",
      "data-do": "clip",
      click: async () => {
        button.disabled = true;
        message.textContent = words("pit.cutting");
        const film = await load(table, session, round);
        button.disabled = false;
        message.textContent = film.why;
        if (film.address) place.replaceChildren(video(film.address, round));
      },
    },
    `▶ ${words("pit.clip")}`,
  );
  place.append(button, " ", message);
  return place;
}

/** Return `{address}` of the film in this page, or `{why}` there is none. */
async function load(table, session, round) {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), CUT_DEADLINE_MS);
  try {
    const answer = await fetch(at(`/pit/clip?${new URLSearchParams({ table, session, round })}`), {
      signal: ending.signal,
    });
    if (!answer.ok) return { why: words("pit.no_clip") };
    const isFilm = answer.headers.get("content-type") === "video/mp4";
    return isFilm
      ? { why: "", address: URL.createObjectURL(await answer.blob()) }
      : { why: (await answer.json()).text };
  } catch {
    return { why: words("pit.no_answer") };
  } finally {
    clearTimeout(timer);
  }
}

function video(address, round) {
  return h("video", {
    src: address,
    "aria-label": words("pit.clip_of", { round }),
    autoplay: true,
    controls: true,
    loop: true,
    playsinline: true,
  });
}
