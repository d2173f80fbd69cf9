// Signing out: the page is put away at once, and stays away until the server has confirmed it.

import { at, byId } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { pause } from "../../static/request.js";

const DEADLINE = 5000;
const AGAIN = 1000;

/**
 * Sign out. `post`: of the page; `after`: where it leads. Whoever walks away leaves nothing open,
 * and is told if that is not done yet.
 */
export async function leave(post, words, after) {
  const told = h("p", { class: "told", role: "alert" }, words("pit.leaving"));
  byId("main").replaceChildren(h("section", { class: "leaving" }, told));
  for (;;) {
    const { status } = await post("/sign-out", {}, { deadline: DEADLINE });
    // 401: the session is over
    if (status === 200 || status === 401) return location.replace(at(after));
    told.textContent = words("pit.not_left");
    await pause(AGAIN);
  }
}
