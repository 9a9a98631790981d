import { type ReactNode, useEffect, useRef, useState } from 'react';

/** What is this far below the screen is shown already, so that scrolling finds it there. */
const MARGIN = '300px';

/** Shows what stands far down a page, and asks for its data, once somebody comes near it. */
export function WhenNear({ children }: { readonly children: ReactNode }) {
  const [isNear, setIsNear] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsNear(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return isNear ? children : <div ref={place} />;
}
