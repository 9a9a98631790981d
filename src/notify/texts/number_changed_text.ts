/** Texts about a changed number, the same in every channel. */
export const NUMBER_CHANGED = {
  number_changed:
    'The phone number that pages you was set or changed. If you do not expect this, tell an owner or admin of your organization at once.',
  member_number_changed: 'A member changed the phone number that pages them. The audit log says who, and when.',
} as const;
