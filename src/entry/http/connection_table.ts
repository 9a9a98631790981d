import type { Socket } from 'node:net';

import { networkOf } from '#auth/network.ts';
import { addressListOf } from '#entry/http/address_list.ts';
import type { LimitLog } from '#kernel/limit_log.ts';
import type { LimitName } from '#kernel/limit_settings.ts';

/** How many connections a listener has. */
export interface ConnectionCounts {
  /**
   * All connections together. A new one beyond it takes the place of the oldest that has shown no key, else of one that
   * waits for a request: who has a good key cannot keep everybody else out with connections that do nothing.
   */
  readonly connectionsMax: number;
  /**
   * Connections of one address (one IPv6 /64) that have shown no key, to all processes together: each has its part. A new
   * one beyond it takes the place of the one that has waited longest, so that who sends nothing shuts out nobody behind the
   * same proxy.
   */
  readonly connectionsOfAddressMax: number;
}

export interface ConnectionOptions {
  readonly limitLog: LimitLog;
  readonly trustedProxies: string | undefined;
  /** How many processes are alive. */
  readonly processes: () => number;
  /** What these limits are called, where they are not those of HTTP. */
  readonly names?: { readonly inAll: LimitName; readonly ofAddress: LimitName };
}

const HTTP_NAMES = { inAll: 'connectionsMax', ofAddress: 'connectionsOfAddressMax' } as const;

/**
 * The connections of a listener, bounded: how many there are, and how many one address without a key may have.
 * Connections of `trustedProxies` are counted in all, but not by address.
 */
export class ConnectionTable {
  readonly #counts: ConnectionCounts;
  readonly #options: ConnectionOptions;
  readonly #isProxy: (address: string) => boolean;
  /** Each with its network; '' for a proxy's. */
  readonly #sockets = new Map<Socket, string>();
  /** Those that have shown no key, with their networks, the one that has waited longest first; and by network. */
  readonly #unauthenticated = new Map<Socket, string>();
  readonly #ofNetwork = new Map<string, Set<Socket>>();
  /** By network those that have shown a key and wait for a request, the one that has waited longest first. */
  readonly #idle = new Map<string, Set<Socket>>();

  constructor(counts: ConnectionCounts, options: ConnectionOptions) {
    this.#counts = counts;
    this.#options = options;
    this.#isProxy = addressListOf(options.trustedProxies);
  }

  /** Returns the network of a new connection; null when there is no room for it, and it was closed. A proxy's is ''. */
  admit(socket: Socket): string | null {
    const { connectionsMax, connectionsOfAddressMax } = this.#counts;
    const { limitLog, processes, names = HTTP_NAMES } = this.#options;
    const address = socket.remoteAddress ?? '';
    const isProxy = this.#isProxy(address);
    const network = networkOf(address);
    const counted = isProxy ? '' : network;
    const ofNetwork = this.#ofNetwork.get(counted) ?? new Set();
    if (!isProxy && ofNetwork.size >= Math.ceil(connectionsOfAddressMax / processes())) {
      limitLog.met(names.ofAddress, network);
      const [longest = socket] = ofNetwork;
      this.#forget(longest);
      longest.destroy();
    }
    if (this.#sockets.size >= connectionsMax) {
      limitLog.met(names.inAll, network);
      const [oldest = this.#longestIdle()] = this.#unauthenticated.keys();
      if (oldest === undefined) {
        socket.destroy();
        return null;
      }
      this.#forget(oldest);
      oldest.destroy();
    }
    this.#sockets.set(socket, counted);
    this.#unauthenticated.set(socket, counted);
    this.#ofNetwork.set(counted, ofNetwork.add(socket));
    socket.once('close', () => this.#forget(socket));
    return counted;
  }

  /** The connection has shown a good key. */
  setKnown(socket: Socket): void {
    const network = this.#unauthenticated.get(socket);
    if (network === undefined) return;
    this.#unauthenticated.delete(socket);
    const ofNetwork = this.#ofNetwork.get(network);
    if (ofNetwork?.delete(socket) === true && ofNetwork.size === 0) this.#ofNetwork.delete(network);
  }

  /** The connection has a request that is not answered yet. */
  setBusy(socket: Socket): void {
    const network = this.#sockets.get(socket);
    if (network === undefined) return;
    const idle = this.#idle.get(network);
    if (idle?.delete(socket) === true && idle.size === 0) this.#idle.delete(network);
  }

  /** The connection waits for a request from now on. */
  setIdle(socket: Socket): void {
    this.setBusy(socket);
    const network = this.#sockets.get(socket);
    if (network === undefined) return;
    if (this.#unauthenticated.delete(socket)) {
      this.#unauthenticated.set(socket, network);
      const ofNetwork = this.#ofNetwork.get(network);
      if (ofNetwork?.delete(socket) === true) ofNetwork.add(socket);
      return;
    }
    const idle = this.#idle.get(network) ?? new Set();
    this.#idle.set(network, idle.add(socket));
  }

  /** Of the network with the most idle connections the one that has waited longest. */
  #longestIdle(): Socket | undefined {
    let most: ReadonlySet<Socket> = new Set();
    for (const idle of this.#idle.values()) if (idle.size > most.size) most = idle;
    return most.values().next().value;
  }

  /** At once when it makes room: of many connections that come in one moment each needs a place of its own. */
  #forget(socket: Socket): void {
    this.setKnown(socket);
    this.setBusy(socket);
    this.#sockets.delete(socket);
  }
}
