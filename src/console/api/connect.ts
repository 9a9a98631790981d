import { queryOptions } from '@tanstack/react-query';

import type { AccountResultOf } from '#console/api/actions.ts';
import { ask } from '#console/api/http.ts';

/** Consent request of an application. */
export type ConnectRequest = AccountResultOf<'get_connect_request'>;
export type Access = ConnectRequest['access'];

export const connectQuery = (uid: string) =>
  queryOptions({
    queryKey: ['connect', uid],
    queryFn: ({ signal }) => ask<ConnectRequest>(`connect/${encodeURIComponent(uid)}`, { signal }),
    retry: false,
    staleTime: Infinity,
  });

/** Grants the access. Like `deny`, it returns the address where the browser continues. */
export const approve = (uid: string, body: { orgId: string; access: Access }) =>
  ask<AccountResultOf<'connect_app'>>(`connect/${encodeURIComponent(uid)}`, { method: 'POST', body });

export const deny = (uid: string) =>
  ask<AccountResultOf<'refuse_app'>>(`connect/${encodeURIComponent(uid)}/refusal`, { method: 'POST', body: {} });
