// Signing out: the page is cleared at once, and stays so until the server has confirmed.

import { at, byId } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { pause } from "../../static/request.js";

const DEADLINE_MS = 5000;
const RETRY_MS = 1000;

/**
 * Sign out and go to `after`. `post` is the page's. Shows a message until the server has confirmed,
 * so that a person who walks away knows whether the session is closed.
 */
export async function leave(post, words, after) {
  const message = h("p", { class: "told", role: "alert" }, words("pit.leaving"));
  byId("main").replaceChildren(h("section", { class: "leaving" }, message));
  for (;;) {
    const { status } = await post("/sign-out", {}, { deadline: DEADLINE_MS });
    // 401: the session is over
    if (status === 200 || status === 401) return location.replace(at(after));
    message.textContent = words("pit.not_left");
    await pause(RETRY_MS);
  }
}
