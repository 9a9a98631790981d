import { Type } from 'typebox';

export const EmailField = Type.String({
  pattern: '^[^\\s@]+@[^\\s@]+$',
  maxLength: 320,
  description: 'a mail address',
});

/** A password to check, of any length. */
export const PasswordField = Type.String({ minLength: 1, maxLength: 1024 });

/** Name of a person. */
export const PersonName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'a name that is not blank',
});

export const EndsField = Type.Optional(Type.Boolean({ description: 'true when left out' }));

/** The token of a link that was mailed. */
export const LinkToken = Type.String({ description: 'the last part of the link' });
