// Stands in the page itself, so that it runs whatever else of the page fails: a style sheet is
// asked for again by itself; where a script fails, or none runs for too long, the page says so and
// is loaded again as soon as the server answers. `data-said`: what it says meanwhile; a page that
// has no script has none. `data-cannot`: what it says in a browser that cannot run its script, and
// where that fails; `data-needs`: what its style sheets need. Written in the language of 2017, so
// that it runs in browsers that know modules but not what they are made of.

{
  const AGAIN = 1000;
  const SILENCE = 6000;
  const PATIENCE = 30000;
  const { said, cannot, needs } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;
  const note = document.createElement("p");
  const hasAll =
    "replaceAll" in String.prototype &&
    "replaceChildren" in Element.prototype &&
    "AbortController" in window &&
    "EventSource" in window &&
    (needs === undefined || CSS.supports(needs));
  let runs = said === undefined;
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
      await wait(AGAIN);
      const ending = new AbortController();
      const timer = setTimeout(() => ending.abort(), PATIENCE);
      const answer = await fetch(location.href, { cache: "no-store", signal: ending.signal }).catch(
        () => null,
      );
      clearTimeout(timer);
      if (!answer || !answer.ok) continue;
      location.reload();
      await wait(PATIENCE);
    }
  }

  function tell(text) {
    note.id = "not-running";
    note.setAttribute("role", "alert");
    note.textContent = text;
    (document.body || document.documentElement).prepend(note);
  }

  function failed() {
    if (runs || broken) return;
    tell(said);
    loadAgain();
  }

  /**
   * Its script cannot run here, or has failed: a page that looks alive and does nothing would be
   * worse.
   */
  function fail() {
    if (cannot === undefined || broken) return;
    broken = true;
    tell(cannot);
    if (!document.body) document.addEventListener("DOMContentLoaded", () => tell(cannot));
  }

  // neither event comes further than the document, so we look on their way down
  document.addEventListener(
    "error",
    (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.localName === "script") failed();
      if (target.localName === "link") {
        setTimeout(() => target.replaceWith(target.cloneNode()), AGAIN);
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
  setTimeout(() => runs || broken || tell(said), SILENCE);
  setTimeout(failed, PATIENCE);
  if (!hasAll) fail();
  window.loadAgain = loadAgain;
}
