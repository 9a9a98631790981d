import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import type { FileAnswer } from '#kernel/action.ts';
import { contactCardOf } from '#modules/contacts/decide/contact.ts';
import { AppError } from '#kernel/errors.ts';

const MEDIA_TYPE = 'text/vcard';
const NAME = 'Tocsin pages';

export const getContactCard = defineOperation({
  name: 'get_contact_card',
  summary:
    'Download a contact card with the numbers and the address that pages come from, so that a phone lets them through while it is silent.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: [MEDIA_TYPE],
  conflict: 'neither SMS and calls nor mail is set up on this server',
  async handle(_input, { installation: { senders } }) {
    if (senders.phones.length + senders.emails.length === 0) {
      throw new AppError('conflict', 'neither SMS and calls nor mail is set up on this server');
    }
    return { name: 'tocsin.vcf', mediaType: MEDIA_TYPE, content: inOnePiece(contactCardOf(NAME, senders)) };
  },
});

async function* inOnePiece(text: string): AsyncGenerator<string> {
  yield text;
}
