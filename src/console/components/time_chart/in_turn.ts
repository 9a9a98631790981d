/** Work allowed per frame, in milliseconds; painting its result takes about as long again. */
const FRAME_MS = 4;

const waiting = new Set<() => void>();
let spentMs = 0;
let isScheduled = false;

/**
 * Runs work that takes some milliseconds: at once, or in one of the next frames if this one has had its share. A page
 * on which twenty charts appear scrolls smoothly. Returns a function that cancels the work.
 */
export function inTurn(work: () => void): () => void {
  if (waiting.size === 0 && spentMs < FRAME_MS) run(work);
  else waiting.add(work);
  schedule();
  return () => void waiting.delete(work);
}

function run(work: () => void): void {
  const began = performance.now();
  try {
    work();
  } finally {
    spentMs += performance.now() - began;
  }
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(runWaiting);
}

function runWaiting(): void {
  isScheduled = false;
  spentMs = 0;
  for (const work of waiting) {
    if (spentMs >= FRAME_MS) break;
    waiting.delete(work);
    run(work);
  }
  if (waiting.size > 0 || spentMs > 0) schedule();
}
