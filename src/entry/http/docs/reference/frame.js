// The button that shows the contents on a phone.
const contents = document.querySelector('#contents');
const menu = document.querySelector('.menu');

function showMenu(isOpen) {
  menu.setAttribute('aria-expanded', String(isOpen));
  document.body.classList.toggle('menu-open', isOpen);
}

menu.addEventListener('click', () => showMenu(menu.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') showMenu(false);
});
contents.addEventListener('click', (event) => {
  if (event.target.closest('a') !== null) showMenu(false);
});
