// Stands in the page itself, so that it runs whatever else of the page fails: a style sheet is asked for again by itself; where
// a script fails, or none runs for too long, the page says so and is loaded again as soon as the server answers. `data-said`:
// what it says meanwhile; a page that has no script has none.

{
  const AGAIN = 1000;
  const SILENCE = 6000;
  const PATIENCE = 30_000;
  const { said } = document.currentScript.dataset;
  const note = document.createElement("p");
  let runs = said === undefined;
  let loading = false;

  const wait = (time) => new Promise((done) => setTimeout(done, time));

  /** Load the page again once the server answers: where it does not, the browser would show a page of its own, for ever. */
  async function loadAgain() {
    if (loading) return;
    loading = true;
    for (;;) {
      await wait(AGAIN);
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
      if (!answer?.ok) continue;
      location.reload();
      await wait(PATIENCE);
    }
  }

  function tell() {
    note.id = "not-running";
    note.setAttribute("role", "alert");
    note.textContent = said;
    (document.body ?? document.documentElement).prepend(note);
  }

  function failed() {
    if (runs) return;
    tell();
    loadAgain();
  }

  // neither event comes further than the document, so we look on their way down
  document.addEventListener("error", ({ target }) => {
    if (target.localName === "script") failed();
    if (target.localName === "link") setTimeout(() => target.replaceWith(target.cloneNode()), AGAIN);
  }, true);
  document.addEventListener("load", ({ target }) => {
    if (target.localName !== "script") return;
    runs = true;
    note.remove();
  }, true);
  addEventListener("load", failed);
  setTimeout(() => runs || tell(), SILENCE);
  setTimeout(failed, PATIENCE);
  window.loadAgain = loadAgain;
}
