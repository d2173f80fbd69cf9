// Pictures of this page's tables and jackpots as they change. While the server is silent, the last
// pictures are not current.

import { serverTimeText } from "./beats.js";
import { connect } from "./connection.js";
import { delay, page } from "./page.js";

/**
 * Call `onPicture(picture)` for each table, `onJackpot(picture)` for each jackpot (also when a
 * picture expires without a successor), `onMotion(motion)` for what moves at a table,
 * `onLost({since})` when the server is silent and `onLost(null)` when it is back.
 */
export function listen(
  onPicture,
  onLost,
  onJackpot = (_picture) => {},
  onMotion = (_motion) => {},
) {
  const ends = new Map();
  let found; // what is lost is so at once, what is found again only when the page shows it
  const names = [
    ...page.tables.map((table) => `table=${table}`),
    ...page.jackpots.map((jackpot) => `jackpot=${jackpot}`),
  ];
  connect(
    { path: "/stream", query: page.language ? `lang=${page.language}` : "", names },
    { picture: late(onPicture), jackpot: late(showJackpot), motion: late(onMotion) },
    (since) => {
      clearTimeout(found);
      if (since) onLost(since);
      else found = later(() => onLost(null));
    },
  );

  /** A handler that is called as much later as this page is. */
  function late(handler) {
    return (update) => later(() => handler(update));
  }

  function later(work) {
    return delay === 0 ? work() : setTimeout(work, delay * 1000);
  }

  function showJackpot(picture) {
    clearTimeout(ends.get(picture.jackpot));
    onJackpot(picture);
    if (!picture.current) return;
    const end = () =>
      onJackpot({
        ...picture,
        current: false,
        in_play: false,
        out: null,
        trouble: { why: "expired", text: null, since: serverTimeText() },
      });
    ends.set(picture.jackpot, setTimeout(end, picture.holds * 1000));
  }
}
