import type { Config } from '#kernel/config.ts';

/** How far requests to addresses that others have given may reach. */
export function outsideOptionsOf({ allowInternalAddresses }: Config): { readonly mayReachInside: boolean } {
  return { mayReachInside: allowInternalAddresses === 'true' };
}
