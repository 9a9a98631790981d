import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, test } from 'vitest';

import { niceStep, roundedTo, ThresholdHandle } from '#console/components/time_chart/threshold_handle.tsx';

afterEach(cleanup);

const AREA = { left: 50, top: 10, width: 400, height: 200, min: 0, max: 1_000 };

function Handle() {
  const [value, setValue] = useState(500);
  const [isHeld, setIsHeld] = useState(false);
  return (
    <>
      <ThresholdHandle area={AREA} value={value} text={`> ${value} ms`} onChange={setValue} onHold={setIsHeld} />
      <output>{isHeld ? 'held' : 'free'}</output>
    </>
  );
}

test('a threshold follows the pointer, and Escape puts it back', () => {
  render(<Handle />);
  const slider = screen.getByRole('slider', { name: 'Threshold' });
  slider.setPointerCapture = () => {};
  fireEvent.pointerDown(slider, { button: 0, clientY: 110, pointerId: 1 });
  expect(screen.getByRole('status').textContent).toBe('held');
  fireEvent.pointerMove(slider, { clientY: 90, pointerId: 1 });
  expect(slider.getAttribute('aria-valuetext')).toBe('> 600 ms');
  fireEvent.keyDown(slider, { key: 'Escape' });
  expect(slider.getAttribute('aria-valuetext')).toBe('> 500 ms');
  expect(screen.getByRole('status').textContent).toBe('free');
  fireEvent.pointerMove(slider, { clientY: 10, pointerId: 1 });
  expect(slider.getAttribute('aria-valuenow')).toBe('500');
});

test('the arrow keys move a threshold by a hundredth of the axis, page keys by a tenth', () => {
  render(<Handle />);
  const slider = screen.getByRole('slider', { name: 'Threshold' });
  fireEvent.keyDown(slider, { key: 'ArrowUp' });
  expect(slider.getAttribute('aria-valuenow')).toBe('510');
  fireEvent.keyDown(slider, { key: 'PageDown' });
  expect(slider.getAttribute('aria-valuenow')).toBe('410');
});

test('a dragged threshold is a number that people would write', () => {
  expect(niceStep(3.2)).toBe(5);
  expect(niceStep(0.0007)).toBe(0.001);
  expect(roundedTo(0.123456, 0.0021)).toBe(0.125);
  expect(roundedTo(812.3, 2.5)).toBe(810);
  expect(roundedTo(3e-7, 1e-8)).toBe(3e-7);
});
