// What decorates a picture with motion. The picture itself is drawn at once and is right without
// it: an animation never changes an element, so that ending it at any moment leaves the truth.

const asked = new URLSearchParams(location.search);
const reduced = matchMedia("(prefers-reduced-motion: reduce)");
/** @type {Set<Animation>} */
const running = new Set();
/** @type {HTMLElement | null} */
let stage = null;

/** Whether nothing moves: `?still=1`, the system's setting, or a page that is not seen. */
export function isStill() {
  return asked.get("still") === "1" || reduced.matches || document.hidden;
}

/** Animate an element once, for `duration` milliseconds. */
export function animate(element, keyframes, options) {
  const animation = element.animate(keyframes, options);
  running.add(animation);
  const end = () => running.delete(animation);
  animation.addEventListener("finish", end);
  animation.addEventListener("cancel", end);
  return animation;
}

/** End what `animate` has begun within `root`, and all ghosts: the picture is as it was drawn. */
export function interrupt(root) {
  for (const animation of [...running]) {
    const { target } = /** @type {KeyframeEffect} */ (animation.effect);
    if (root.contains(target) || stage?.contains(target)) animation.cancel();
  }
}

/** Where these elements are: element -> rectangle. */
export function places(elements) {
  return new Map([...elements].map((element) => [element, element.getBoundingClientRect()]));
}

/** The transform that puts an element that is at `to` where `from` is. */
export function from(source, target) {
  const x = source.left + source.width / 2 - target.left - target.width / 2;
  const y = source.top + source.height / 2 - target.top - target.height / 2;
  const scale = Math.min(source.width / target.width, source.height / target.height) || 1;
  return `translate(${x}px, ${y}px) scale(${scale})`;
}

/** Let elements glide from where they were, in `before`, to where they are. */
export function glide(before, options) {
  for (const [element, was] of before) {
    if (!element.isConnected || !was.width) continue;
    const now = element.getBoundingClientRect();
    if (Math.abs(now.left - was.left) + Math.abs(now.top - was.top) < 1) continue;
    animate(element, [{ transform: from(was, now) }, { transform: "none" }], options);
  }
}

/**
 * Show an element that is not part of the picture any more, where it was, while it is animated; it
 * is hidden from assistive technology.
 */
export function ghost(element, was, keyframes, options) {
  if (!stage) {
    stage = document.createElement("div");
    stage.className = "stage";
    stage.setAttribute("aria-hidden", "true");
    document.body.append(stage);
  }
  const place = document.createElement("div");
  for (const name of ["left", "top", "width", "height"]) place.style[name] = `${was[name]}px`;
  place.append(element);
  stage.append(place);
  const animation = animate(place, keyframes, { ...options, fill: "both" });
  const end = () => place.remove();
  animation.addEventListener("finish", end);
  animation.addEventListener("cancel", end);
}

reduced.addEventListener("change", () => interrupt(document));
