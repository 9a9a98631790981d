const SIGNS_OF_LIFE = ['pointermove', 'pointerdown', 'keydown'] as const;

const waiting = new Set<() => void>();
let isUsed = false;

/**
 * Loads all waiting modules, but not while offline: a browser that could not load a module does not try again before
 * the page is reloaded.
 */
function loadAll(): void {
  if (!isUsed || !navigator.onLine) return;
  const loads = [...waiting];
  waiting.clear();
  for (const load of loads) load();
}

for (const sign of SIGNS_OF_LIFE) {
  window.addEventListener(
    sign,
    () => {
      isUsed = true;
      loadAll();
    },
    { once: true, passive: true },
  );
}
window.addEventListener('online', loadAll);

/** Loads a file on the first interaction with the page: after the page is shown, and before the file is needed. */
export function prefetchOnInteraction(load: () => void): void {
  waiting.add(load);
  loadAll();
}
