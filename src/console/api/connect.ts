import { queryOptions } from '@tanstack/react-query';

import { ask } from '#console/api/http.ts';
import type { Role } from '#console/api/session.ts';

export type Access = 'read_only' | 'changes';

/** What an application asks for. */
export interface ConnectRequest {
  readonly client: {
    readonly name: string;
    readonly uri: string | null;
    readonly redirectHost: string;
    readonly kind: 'registered' | 'metadata_document';
  };
  readonly organizations: readonly { readonly orgId: string; readonly name: string; readonly role: Role }[];
  readonly access: Access;
  readonly canChange: boolean;
}

export const connectQuery = (uid: string) =>
  queryOptions({
    queryKey: ['connect', uid],
    queryFn: ({ signal }) => ask<ConnectRequest>(`connect/${encodeURIComponent(uid)}`, { signal }),
    retry: false,
    staleTime: Infinity,
  });

/** Both answer where the browser goes on. */
export const approve = (uid: string, body: { orgId: string; access: Access }) =>
  ask<{ redirectTo: string }>(`connect/${encodeURIComponent(uid)}`, { method: 'POST', body });

export const refuse = (uid: string) =>
  ask<{ redirectTo: string }>(`connect/${encodeURIComponent(uid)}/refusal`, { method: 'POST', body: {} });
