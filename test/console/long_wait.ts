/** For what the testing library waits for: by itself it gives up after a second. */
export const PATIENTLY = { timeout: 60_000 } as const;
