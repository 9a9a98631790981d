import { expect, test } from 'vitest';

import { issueLinkFault, newIssueUrlOf } from '#modules/exceptions/decide/issue_link.ts';

test('an address for new issues is filled in, and what senders wrote cannot leave its parameter', () => {
  const facts = { title: 'a&b=c #1', type: null, culprit: 'pay\uD800', service: 'shop', link: 'https://t.example/x?y' };
  const template = 'https://tracker.example.com/new?title={title}&body={link}&type={type}&at={culprit}';
  expect(newIssueUrlOf(template, facts)).toBe(
    'https://tracker.example.com/new?title=a%26b%3Dc%20%231&body=https%3A%2F%2Ft.example%2Fx%3Fy&type=&at=pay%EF%BF%BD',
  );
  expect(newIssueUrlOf(null, facts)).toBeNull();
});

test.each([
  ['https://tracker.example.com/new?title={title}', null],
  ['https://tracker.example.com/new?title={titel}', 'has the unknown placeholder {titel}'],
  ['http://tracker.example.com/new', 'must be an https address'],
  ['https://{service}.example.com/new', 'must be an https address'],
  ['javascript:alert(1)', 'must be an https address'],
])('the template %s is checked', (template, fault) => {
  expect(issueLinkFault(template) ?? 'none').toContain(fault ?? 'none');
});
