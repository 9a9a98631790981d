import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import type { PushDevice } from '#console/api/organization.ts';
import { useOrganization } from '#console/shell/organization.tsx';

export type DeviceState = 'unknown' | 'impossible' | 'needs_installation' | 'denied' | 'off' | 'on';

/** Key of the subscription of this device. Only the browser knows which of the person's devices it is. */
const STORAGE_KEY = 'tocsin-push-subscription';

interface StoredSubscription {
  readonly subscriptionId: string;
  readonly endpoint: string;
}

export interface ThisDevice {
  readonly state: DeviceState;
  readonly subscriptionId: string | null;
  /** Subscribes this device. Throws an error with a sentence for the person if browser or push service refuses. */
  subscribe(): Promise<void>;
  remove(subscriptionId: string): Promise<void>;
}

export function useThisDevice(vapidPublicKey: string, devices: readonly PushDevice[]): ThisDevice {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [state, setState] = useState<DeviceState>('unknown');
  const stored = readStored();
  const isKnown = devices.some(({ subscriptionId }) => subscriptionId === stored?.subscriptionId);

  const refresh = useCallback(async (): Promise<void> => setState(await stateOfDevice()), []);
  useEffect(() => void refresh(), [refresh, devices]);

  const register = async (subscription: PushSubscription): Promise<void> => {
    const { endpoint = '', keys } = subscription.toJSON();
    const body = {
      endpoint,
      keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' },
      label: deviceName(),
    };
    const { subscriptionId } = await invoke(orgId, 'create_push_subscription', body);
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ subscriptionId, endpoint }));
    await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
  };

  return {
    state: state === 'on' && !isKnown ? 'off' : state,
    subscriptionId: isKnown ? (stored?.subscriptionId ?? null) : null,
    async subscribe() {
      if ((await Notification.requestPermission()) !== 'granted') {
        await refresh();
        throw new Error('The browser blocks messages from Tocsin. Allow them in the settings of this site.');
      }
      const worker = await navigator.serviceWorker.ready;
      const options = { userVisibleOnly: true, applicationServerKey: bytesOf(vapidPublicKey) };
      await register(await subscribeWithKey(worker.pushManager, options));
      await refresh();
    },
    async remove(subscriptionId) {
      await invoke(orgId, 'delete_push_subscription', { subscriptionId });
      if (subscriptionId === stored?.subscriptionId) {
        localStorage.removeItem(STORAGE_KEY);
        // The server sends nothing to it any more, whether the browser forgets it or not.
        await (await currentSubscription().catch(() => null))?.unsubscribe().catch(() => false);
      }
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
      await refresh();
    },
  };
}

async function stateOfDevice(): Promise<DeviceState> {
  const isPossible = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
  if (!isPossible) return isAppleMobile() ? 'needs_installation' : 'impossible';
  if (Notification.permission === 'denied') return 'denied';
  const subscription = await currentSubscription();
  return subscription !== null && subscription.endpoint === readStored()?.endpoint ? 'on' : 'off';
}

/** Returns the present subscription, if any: `ready` would wait forever in a browser that runs no service worker. */
async function currentSubscription(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration();
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/** Subscribes. On failure it removes a subscription, whose key may be of a previous installation, and tries again. */
async function subscribeWithKey(manager: PushManager, options: PushSubscriptionOptionsInit): Promise<PushSubscription> {
  try {
    return await manager.subscribe(options);
  } catch (error) {
    const old = await manager.getSubscription();
    if (old === null) throw refusal(error);
    await old.unsubscribe();
    return await manager.subscribe(options).catch((again: unknown) => {
      throw refusal(again);
    });
  }
}

function refusal(cause: unknown): Error {
  const message = 'The browser could not reach its push service. Check the connection, then try again.';
  return new Error(message, { cause });
}

function readStored(): StoredSubscription | null {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null') as StoredSubscription | null;
  } catch {
    return null;
  }
}

/** Whether this is iOS, where only an application on the home screen may show messages. */
const isAppleMobile = (): boolean => /iP(?:hone|ad|od)/.test(navigator.userAgent);

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Returns a name for the device, from the browser and the operating system. */
export function deviceName(userAgent = navigator.userAgent): string {
  const browsers = [/Edg/, /OPR|Opera/, /SamsungBrowser/, /Firefox|FxiOS/, /Chrome|CriOS/, /Safari/];
  const names = ['Edge', 'Opera', 'Samsung Internet', 'Firefox', 'Chrome', 'Safari'];
  const systems = [/iPhone/, /iPad/, /Android/, /Windows/, /Mac OS X/, /Linux|X11/];
  const systemNames = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac', 'Linux'];
  const browser = names[browsers.findIndex((pattern) => pattern.test(userAgent))] ?? 'Browser';
  const system = systemNames[systems.findIndex((pattern) => pattern.test(userAgent))];
  return system === undefined ? browser : `${browser} on ${system}`;
}
