/** For what the testing library waits for: by itself it gives up after a second. */
export const PATIENTLY = { timeout: 30_000 } as const;
