// Inlined in every page, so that it runs even if everything else fails to load. It reloads style
// sheets that failed; where a script fails or does not start in time, it shows a note and reloads
// the page as soon as the server responds. `data-said` is that note (absent on a page without a
// script), `data-cannot` the note for a browser that cannot run the script, `data-needs` the CSS
// that the style sheets require. ES2017, so that it runs in browsers that support modules but not
// the language of this project's modules.

{
  const RETRY_MS = 1000;
  const SILENCE_MS = 6000;
  const DEADLINE_MS = 30000;
  const {
    said: silenceNote,
    cannot,
    needs,
  } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;
  const note = document.createElement("p");
  const hasAll =
    "replaceAll" in String.prototype &&
    "replaceChildren" in Element.prototype &&
    "AbortController" in window &&
    "EventSource" in window &&
    (needs === undefined || CSS.supports(needs));
  let runs = silenceNote === undefined;
  let broken = false;
  let loading = false;

  const wait = (time) => new Promise((done) => setTimeout(done, time));

  /**
   * Load the page again once the server answers: where it does not, the browser would show a page
   * of its own, for ever.
   */
  async function loadAgain() {
    if (loading) return;
    loading = true;
    for (;;) {
      await wait(RETRY_MS);
      const ending = new AbortController();
      const timer = setTimeout(() => ending.abort(), DEADLINE_MS);
      const answer = await fetch(location.href, { cache: "no-store", signal: ending.signal }).catch(
        () => null,
      );
      clearTimeout(timer);
      if (!answer || !answer.ok) continue;
      location.reload();
      await wait(DEADLINE_MS);
    }
  }

  function showNote(text) {
    note.id = "not-running";
    note.setAttribute("role", "alert");
    note.textContent = text;
    (document.body || document.documentElement).prepend(note);
  }

  function failed() {
    if (runs || broken) return;
    showNote(silenceNote);
    loadAgain();
  }

  /**
   * Its script cannot run here, or has failed: a page that looks alive and does nothing would be
   * worse.
   */
  function fail() {
    if (cannot === undefined || broken) return;
    broken = true;
    showNote(cannot);
    if (!document.body) document.addEventListener("DOMContentLoaded", () => showNote(cannot));
  }

  // neither event bubbles, so listen in the capture phase
  document.addEventListener(
    "error",
    (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.localName === "script") failed();
      if (target.localName === "link") {
        setTimeout(() => target.replaceWith(target.cloneNode()), RETRY_MS);
      }
    },
    true,
  );
  document.addEventListener(
    "load",
    (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.localName !== "script") return;
      runs = true;
      if (!broken) note.remove();
    },
    true,
  );
  addEventListener("error", ({ error }) => error && fail());
  addEventListener("unhandledrejection", fail);
  addEventListener("load", failed);
  setTimeout(() => runs || broken || showNote(silenceNote), SILENCE_MS);
  setTimeout(failed, DEADLINE_MS);
  if (!hasAll) fail();
  window.loadAgain = loadAgain;
}
