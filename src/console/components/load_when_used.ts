const SIGNS_OF_LIFE = ['pointermove', 'pointerdown', 'keydown'] as const;

const waiting = new Set<() => void>();
let isUsed = false;

for (const sign of SIGNS_OF_LIFE) {
  window.addEventListener(
    sign,
    () => {
      isUsed = true;
      for (const start of waiting) start();
      waiting.clear();
    },
    { once: true, passive: true },
  );
}

/** Loads a file once somebody does something on the page: after the page is shown, and before the file is needed. */
export function loadWhenUsed(load: () => void): void {
  if (isUsed) load();
  else waiting.add(load);
}
