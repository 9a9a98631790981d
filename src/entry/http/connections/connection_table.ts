import type { Socket } from 'node:net';

import { networkOf } from '#kernel/ip_address.ts';
import { addressListOf } from '#entry/http/connections/addresses.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';
import type { LimitName } from '#kernel/limit_settings.ts';

export interface ConnectionCounts {
  /**
   * Limit on all connections together. A new one beyond it replaces the oldest that has shown no key, or else one that
   * waits for a request: the holder of a valid key cannot shut out everybody else with idle connections.
   */
  readonly connectionsMax: number;
  /**
   * Limit on the connections of one address (one IPv6 /64) that have shown no key, over all processes: each has its
   * part. A new one beyond it replaces the one that has waited longest, so that a client that sends nothing shuts out
   * nobody behind the same proxy.
   */
  readonly connectionsOfAddressMax: number;
}

export interface ConnectionOptions {
  readonly reachedLimits: ReachedLimits;
  readonly trustedProxies: string | undefined;
  readonly processes: () => number;
  /** Names of these limits, if not those of HTTP. */
  readonly names?: { readonly inAll: LimitName; readonly ofAddress: LimitName };
}

const HTTP_NAMES = { inAll: 'connectionsMax', ofAddress: 'connectionsOfAddressMax' } as const;

/**
 * Bounded connections of a listener: all of them, and those of one address without a key. Connections of
 * `trustedProxies` count in all, but not by address.
 */
export class ConnectionTable {
  readonly #counts: ConnectionCounts;
  readonly #options: ConnectionOptions;
  readonly #isProxy: (address: string) => boolean;
  /** Network of each connection; '' for a proxy's. */
  readonly #sockets = new Map<Socket, string>();
  /** Connections that have shown no key, with their networks, the longest waiting first; and the same by network. */
  readonly #unauthenticated = new Map<Socket, string>();
  readonly #ofNetwork = new Map<string, Set<Socket>>();
  /** Connections that have shown a key and wait for a request, by network, the longest waiting first. */
  readonly #idle = new Map<string, Set<Socket>>();

  constructor(counts: ConnectionCounts, options: ConnectionOptions) {
    this.#counts = counts;
    this.#options = options;
    this.#isProxy = addressListOf(options.trustedProxies);
  }

  /** Returns the network of a new connection, '' for a proxy's; null if there is no room for it, and it was closed. */
  admit(socket: Socket): string | null {
    const { connectionsMax, connectionsOfAddressMax } = this.#counts;
    const { reachedLimits, processes, names = HTTP_NAMES } = this.#options;
    const address = socket.remoteAddress ?? '';
    const isProxy = this.#isProxy(address);
    const network = networkOf(address);
    const counted = isProxy ? '' : network;
    const ofNetwork = this.#ofNetwork.get(counted) ?? new Set();
    if (!isProxy && ofNetwork.size >= Math.ceil(connectionsOfAddressMax / processes())) {
      reachedLimits.record(names.ofAddress, network);
      const [longest = socket] = ofNetwork;
      this.#forget(longest);
      longest.destroy();
    }
    if (this.#sockets.size >= connectionsMax) {
      reachedLimits.record(names.inAll, network);
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

  /** Marks the connection as having shown a valid key. */
  setKnown(socket: Socket): void {
    const network = this.#unauthenticated.get(socket);
    if (network === undefined) return;
    this.#unauthenticated.delete(socket);
    const ofNetwork = this.#ofNetwork.get(network);
    if (ofNetwork?.delete(socket) === true && ofNetwork.size === 0) this.#ofNetwork.delete(network);
  }

  /** Marks the connection as busy: it has a request that is not answered yet. */
  setBusy(socket: Socket): void {
    const network = this.#sockets.get(socket);
    if (network === undefined) return;
    const idle = this.#idle.get(network);
    if (idle?.delete(socket) === true && idle.size === 0) this.#idle.delete(network);
  }

  /** Marks the connection as idle: it waits for a request. */
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

  /** Returns the longest waiting connection of the network with the most idle ones. */
  #longestIdle(): Socket | undefined {
    let most: ReadonlySet<Socket> = new Set();
    for (const idle of this.#idle.values()) if (idle.size > most.size) most = idle;
    return most.values().next().value;
  }

  /**
   * Removes a connection. Called at once when it makes room: of many connections that come in one moment each needs a
   * place of its own.
   */
  #forget(socket: Socket): void {
    this.setKnown(socket);
    this.setBusy(socket);
    this.#sockets.delete(socket);
  }
}
