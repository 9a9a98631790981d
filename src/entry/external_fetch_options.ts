import type { Config } from '#entry/config.ts';

/** Whether requests to untrusted addresses may reach private networks. */
export function externalFetchOptionsOf({ allowInternalAddresses }: Config): {
  readonly allowInternalAddresses: boolean;
} {
  return { allowInternalAddresses: allowInternalAddresses === 'true' };
}
