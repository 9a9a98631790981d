import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

import { type Connected, followChanges } from '#console/api/live.ts';
import { useHere } from '#console/shell/organization.tsx';

const ConnectedContext = createContext<Connected>('connecting');

/** Keeps every list within up to date. */
export function LiveChanges({ children }: { readonly children: ReactNode }) {
  const { orgId } = useHere().org;
  const queryClient = useQueryClient();
  const [connected, setConnected] = useState<Connected>('connecting');
  useEffect(() => followChanges(orgId, queryClient, setConnected), [orgId, queryClient]);
  return <ConnectedContext value={connected}>{children}</ConnectedContext>;
}

export const useConnected = (): Connected => useContext(ConnectedContext);
