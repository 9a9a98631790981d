import { describe, expect, test } from 'vitest';

import { refusalOf, type Way } from '#auth/may_act.ts';
import { actingRoleOf, isAbove, PERMISSIONS, type Role, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import { testClock } from '#test/kit/clock.ts';

const at = testClock().now();
const standing = (role: Role, secondFactorRequired: boolean, hasSecondFactor: boolean) => ({
  role,
  secondFactorRequired,
  hasSecondFactor,
  networks: null,
  providerRule: null,
});
const message = (number: Extract<Way, { kind: 'message' }>['number'], wants: 'acknowledge' | 'more'): Way => ({
  kind: 'message',
  number,
  wants,
});
const WAYS: readonly Way[] = [
  { kind: 'session', secondFactorAt: at, by: 'password', address: null },
  { kind: 'session', secondFactorAt: null, by: 'password', address: null },
  { kind: 'credential', address: null },
  message(null, 'more'),
  message('confirmed', 'more'),
];

describe('whether a person may act', () => {
  test.each(WAYS)('somebody who is no member acts by no way: %j', (way) => {
    expect(refusalOf(null, way)).toBe('no_member');
  });

  test.each(WAYS)('an owner or admin without the required second factor acts by no way: %j', (way) => {
    for (const role of ['owner', 'admin'] as const) {
      expect(refusalOf(standing(role, true, false), way)).toBe('second_factor_missing');
      expect(refusalOf(standing(role, false, false), way)).toBeNull();
    }
    for (const role of ['editor', 'responder', 'viewer'] as const) {
      expect(refusalOf(standing(role, true, false), way)).toBeNull();
    }
  });

  test('a session shows the factor, and whatever was made in one need not', () => {
    const owner = standing('owner', true, true);
    expect(WAYS.map((way) => refusalOf(owner, way))).toEqual([null, 'second_factor_not_shown', null, null, null]);
  });

  test('a message from a number that nobody has confirmed acknowledges, and one from a number of another does nothing', () => {
    const anna = standing('responder', false, false);
    expect(refusalOf(anna, message('unconfirmed', 'acknowledge'))).toBeNull();
    expect(refusalOf(anna, message('unconfirmed', 'more'))).toBe('number_unconfirmed');
    for (const wants of ['acknowledge', 'more'] as const) {
      expect(refusalOf(anna, message('of_another', wants))).toBe('number_of_another');
      expect(refusalOf(anna, message('confirmed', wants))).toBeNull();
    }
  });

  test('in a chat whose secret somebody of a lower role knows, an owner acknowledges and does nothing else', () => {
    const inChat = (secretRole: Role | null, wants: 'acknowledge' | 'more'): Way => ({
      kind: 'message',
      number: null,
      wants,
      secretRole,
    });
    for (const secretRole of ['admin', null] as const) {
      const refusals = ROLES.map((role) => refusalOf(standing(role, false, false), inChat(secretRole, 'more')));
      expect(refusals).toEqual(['place_of_lower_role', null, null, null, null]);
      expect(refusalOf(standing('owner', false, false), inChat(secretRole, 'acknowledge'))).toBeNull();
    }
    expect(refusalOf(standing('owner', false, false), inChat('owner', 'more'))).toBeNull();
  });

  test('a page never waits for the policy: whoever lacks the factor acknowledges', () => {
    for (const number of [null, 'confirmed', 'unconfirmed'] as const) {
      expect(refusalOf(standing('owner', true, false), message(number, 'acknowledge'))).toBeNull();
    }
  });
});

describe('the role that somebody acts as', () => {
  test.each(ROLES)('a %s acts as that with all permissions of the role', (role) => {
    expect(actingRoleOf(role, new Set(ROLE_PERMISSIONS[role]))).toBe(role);
  });

  test('a key that was narrowed acts as the role that its changes are those of', () => {
    expect(actingRoleOf('owner', new Set(['oncall:edit']))).toBe('responder');
    expect(actingRoleOf('owner', new Set(['oncall:view']))).toBe('viewer');
    expect(actingRoleOf(null, new Set(PERMISSIONS))).toBe('owner');
    expect(actingRoleOf(null, new Set(['oncall:edit', 'services:edit']))).toBe('responder');
  });

  test('roles are ordered', () => {
    expect(isAbove('owner', 'admin')).toBe(true);
    expect(isAbove('viewer', 'responder')).toBe(false);
    expect(isAbove('editor', 'editor')).toBe(false);
  });

  test('a session of another provider acts nowhere else, and one door leaves owners the password', () => {
    const at = { kind: 'session', secondFactorAt: null, address: null } as const;
    const by = (way: 'password' | 'own_provider' | 'other_provider') => ({ ...at, by: way });
    const free = { isRequired: false, trustsSecondFactor: false };
    const required = { isRequired: true, trustsSecondFactor: false };
    for (const role of ROLES) {
      for (const providerRule of [null, free, required]) {
        const member = { ...standing(role, false, false), providerRule };
        expect(refusalOf(member, by('other_provider'))).toBe('other_provider');
        expect(refusalOf(member, by('own_provider'))).toBe(providerRule === null ? 'provider_required' : null);
        const isKeptOut = providerRule === required && role !== 'owner';
        expect(refusalOf(member, by('password'))).toBe(isKeptOut ? 'provider_required' : null);
        expect(refusalOf(member, { kind: 'credential', address: null })).toBeNull();
        expect(refusalOf(member, message(null, 'more'))).toBeNull();
      }
    }
  });

  test("a provider's second factor counts only where the organization says so", () => {
    const way = (secondFactorAt: typeof at | null) =>
      ({ kind: 'session', secondFactorAt, by: 'own_provider', address: null }) as const;
    const admin = (trustsSecondFactor: boolean) => ({
      ...standing('admin', true, false),
      providerRule: { isRequired: true, trustsSecondFactor },
    });
    expect(refusalOf(admin(false), way(at))).toBe('second_factor_missing');
    expect(refusalOf(admin(true), way(null))).toBe('second_factor_missing');
    expect(refusalOf(admin(true), way(at))).toBeNull();
    expect(refusalOf(admin(true), { kind: 'credential', address: null })).toBe('second_factor_missing');
  });

  test('a list of networks counts for sessions and credentials, and never for an answer to a page', () => {
    const owner = { ...standing('owner', false, false), networks: ['192.0.2.0/24'] };
    const session = { kind: 'session', secondFactorAt: null, by: 'password' } as const;
    for (const address of ['198.51.100.7', null, 'no address', '::1']) {
      expect(refusalOf(owner, { ...session, address })).toBe('address_not_allowed');
      expect(refusalOf(owner, { kind: 'credential', address })).toBe('address_not_allowed');
    }
    expect(refusalOf(owner, { ...session, address: '192.0.2.7' })).toBeNull();
    expect(refusalOf(owner, { kind: 'credential', address: '::ffff:192.0.2.7' })).toBeNull();
    expect(refusalOf(owner, message(null, 'more'))).toBeNull();
  });
});
