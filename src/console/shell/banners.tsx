import { CloseButton } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';

import { latenessQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { type ConnectionState, followChanges } from '#console/api/live.ts';
import classes from '#console/shell/banners.module.css';
import { IconBellOff, IconClockExclamation, IconCloudOff } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { type Channel, CHANNEL_DECLARATIONS, isChannel } from '#modules/contacts/decide/channel.ts';

const ConnectionContext = createContext<ConnectionState>('connecting');

const useConnectionState = (): ConnectionState => useContext(ConnectionContext);

/** Warnings shown on every page, each only to those who can act on it. */
export function Banners() {
  const { may } = useOrganization();
  return (
    <div aria-live="polite">
      <ServerUnreachable />
      {may('oncall:edit') && (
        <>
          <Lateness />
          <MissingChannels />
        </>
      )}
      <SimulatedChannels />
    </div>
  );
}

/** Delay before the banner is shown, because a short interruption is not worth one. */
const BANNER_DELAY_MS = 4_000;

/** Banner for everybody that nothing on the page is new. */
function ServerUnreachable() {
  const { online } = useNetwork();
  const isLost = useConnectionState() === 'lost';
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    setIsLate(false);
    if (!isLost) return;
    const timer = setTimeout(() => setIsLate(true), BANNER_DELAY_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (online && !(isLost && isLate)) return null;
  return (
    <div className={`${classes.banner} row wraps small`}>
      <IconCloudOff size={18} aria-hidden />
      {online
        ? 'The server cannot be reached. What you see may be out of date. It updates as soon as the server answers.'
        : 'This device is offline. What you see may be out of date. Replies by SMS still work.'}
    </div>
  );
}

/** Interval, in milliseconds, at which it is asked whether rules and pages are late. */
const LATENESS_MS = 30_000;

/**
 * Banner for those who answer incidents that rules are evaluated, or people paged, late: what a page says of a rule or an
 * incident may be old.
 */
function Lateness() {
  const { org } = useOrganization();
  const { data } = useQuery({ ...latenessQuery(org.orgId), refetchInterval: LATENESS_MS });
  if (data === undefined || data.late.length === 0) return null;
  return (
    <div className={`${classes.banner} row wraps small`}>
      <IconClockExclamation size={18} aria-hidden />
      <span>Incidents may open and resolve late, and pages may leave late: {data.late.join('; ')}.</span>
    </div>
  );
}

/** Keeps the channels that were missing the last time, so that the page does not move when the answer arrives. */
function useStoredChannels(orgId: string): [readonly Channel[], (channels: readonly Channel[]) => void] {
  const key = `tocsin-missing-channels:${orgId}`;
  const [shownChannels] = useState(() => (localStorage.getItem(key) ?? '').split(' ').filter(isChannel));
  const store = useCallback(
    (channels: readonly Channel[]): void => {
      if (channels.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, channels.join(' '));
    },
    [key],
  );
  return [shownChannels, store];
}

/**
 * Banner for owners that no Twilio account is set up: paging reaches only the phone simulator. It can be hidden for as long
 * as the browser tab is open, and comes back as long as it is true.
 */
function SimulatedChannels() {
  const { org } = useOrganization();
  const { data } = useQuery(pagingProblemsQuery(org.orgId));
  const key = `tocsin-simulated-hidden:${org.orgId}`;
  const [isHidden, setIsHidden] = useState(() => sessionStorage.getItem(key) !== null);
  if (org.role !== 'owner' || data === undefined || data.simulated.length === 0 || isHidden) return null;
  return (
    <div className={`${classes.banner} row wraps small`}>
      <IconBellOff size={18} aria-hidden />
      <span>
        SMS and calls are simulated
        <span className={classes.detail}>: they wake nobody</span>.
      </span>
      <Link to="/settings/delivery">See delivery</Link>
      <CloseButton
        size="sm"
        c="inherit"
        aria-label="Hide this until the browser is opened again"
        onClick={() => {
          sessionStorage.setItem(key, '');
          setIsHidden(true);
        }}
      />
    </div>
  );
}

/**
 * Banner about channels that escalation policies use but that are not set up on this server: their pages will fail. It is
 * for those who may change the policies.
 */
function MissingChannels() {
  const { org } = useOrganization();
  const { data } = useQuery(pagingProblemsQuery(org.orgId));
  const [known, setKnown] = useStoredChannels(org.orgId);
  const missing = data?.missing ?? known;
  useEffect(() => {
    if (data !== undefined) setKnown(data.missing);
  }, [data, setKnown]);
  if (missing.length === 0) return null;
  const names = missing.map((channel) => CHANNEL_DECLARATIONS[channel].name).join(' and ');
  return (
    <div className={`${classes.banner} row wraps small`}>
      <IconBellOff size={18} aria-hidden />
      <span>
        Some escalation policies use {names}, which {missing.length === 1 ? 'is' : 'are'} not set up on this server.
      </span>
      <Link to="/settings/delivery">See delivery</Link>
    </div>
  );
}

/** Keeps all data of the components below it up to date. */
export function LiveChanges({ children }: { readonly children: ReactNode }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [connected, setConnected] = useState<ConnectionState>('connecting');
  useEffect(() => followChanges(orgId, queryClient, setConnected), [orgId, queryClient]);
  return <ConnectionContext value={connected}>{children}</ConnectionContext>;
}
