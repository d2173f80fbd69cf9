// The clip of a round, played beside its evidence. It is fetched once, since it is cut for each
// request, and a player asks for a file in parts.

import { at } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { page, words } from "./asking.js";

const DEADLINE_MS = 120_000;

/** The part of a round's detail with its picture. */
export function clip(place, played) {
  const command = `novamas surveillance clip --table ${place.table} --session ${place.session} --round ${place.round} ${place.table}-${place.session}-${place.round}.mp4`;
  const address = at(`/surveillance/clip?${new URLSearchParams(place)}`);
  const message = h("p", { class: "told", role: "status" });
  const screen = h("div", { class: "screen" });
  const show = h("button", { type: "button", class: "main", click: play }, words("page.clip_play"));
  return h(
    "section",
    { class: "part", "aria-label": words("page.clip") },
    h("h3", {}, words("page.clip")),
    page.clips &&
      played && [
        h("p", {}, show, " ", h("a", { class: "clip", href: address }, words("page.clip_get"))),
        message,
        screen,
      ],
    h("p", { class: "soft" }, words("page.clip_how")),
    h("code", {}, command),
  );

  async function play() {
    show.disabled = true;
    message.textContent = "";
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), DEADLINE_MS);
    try {
      const answer = await fetch(address, { credentials: "same-origin", signal: ending.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      const film = URL.createObjectURL(await answer.blob());
      const video = h("video", {
        src: film,
        controls: true,
        loop: true,
        muted: true,
        autoplay: true,
        playsinline: true,
        "aria-label": words("page.clip"),
      });
      video.muted = true; // the attribute alone lets no film begin by itself
      screen.replaceChildren(video);
    } catch {
      message.textContent = words("page.no_clip", { why: "" }).replace(/[: ]+$/, ".");
    }
    clearTimeout(timer);
    show.disabled = false;
  }
}
