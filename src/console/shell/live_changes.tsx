import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

import { type ConnectionState, followChanges } from '#console/api/live.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const ConnectionContext = createContext<ConnectionState>('connecting');

/** Keeps all data of the components below it up to date. */
export function LiveChanges({ children }: { readonly children: ReactNode }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [connected, setConnected] = useState<ConnectionState>('connecting');
  useEffect(() => followChanges(orgId, queryClient, setConnected), [orgId, queryClient]);
  return <ConnectionContext value={connected}>{children}</ConnectionContext>;
}

export const useConnectionState = (): ConnectionState => useContext(ConnectionContext);
