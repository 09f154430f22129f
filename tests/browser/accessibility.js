// What a program can tell of the accessibility of a page, from what is rendered.

function isShown(element) {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: false })) {
    return false;
  }
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1 && getComputedStyle(element).clipPath === "none";
}

function outline(element) {
  const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
  const classes = element.classList.length ? `.${[...element.classList].join(".")}` : "";
  return `<${element.localName}${element.id && `#${element.id}`}${classes}> "${text}"`;
}

/** Red, green, blue and alpha of a computed colour, each from 0 to 1. */
function colour(text) {
  const numbers = text.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? [0, 0, 0, 0];
  const [red, green, blue, alpha = 1] = numbers;
  return text.startsWith("color(") ? [red, green, blue, alpha] : [red / 255, green / 255, blue / 255, alpha];
}

function over([r, g, b, a], [R, G, B]) {
  return [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
}

/** The colour that is painted where an element is. */
function backdrop(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    layers.push(colour(getComputedStyle(at).backgroundColor));
    if (layers.at(-1)[3] === 1) {
      break;
    }
  }
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme !== "light");
  return layers.reduceRight((below, layer) => over(layer, below), isDark ? [0, 0, 0, 1] : [1, 1, 1, 1]);
}

function luminance(parts) {
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function opacity(element) {
  let all = 1;
  for (let at = element; at; at = at.parentElement) {
    all *= Number(getComputedStyle(at).opacity);
  }
  return all;
}

function structure() {
  const found = [];
  const count = (selector, wanted) => {
    const number = [...document.querySelectorAll(selector)].length;
    if (number !== wanted) {
      found.push(`${number} of \`${selector}\` instead of ${wanted}`);
    }
  };
  count("h1", 1);
  count("main", 1);
  if (document.body.dataset.page !== "file") {
    count("header", 1);
  }
  if (!document.documentElement.lang) {
    found.push("the page has no language");
  }
  if (!document.title.trim()) {
    found.push("the page has no title");
  }
  const skip = document.querySelector("a[href]");
  if (!skip?.matches(".skip") || !document.querySelector(skip.hash)) {
    found.push("the first link does not skip to the content");
  }
  let before = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = Number(heading.localName.slice(1));
    // An error summary comes before the title of the page.
    if (level > before + 1 && !heading.closest(".summary")) {
      found.push(`a heading skips a level: ${outline(heading)}`);
    }
    before = heading.closest(".summary") ? before : level;
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids.filter((one, index) => ids.indexOf(one) !== index)) {
    found.push(`the id ${id} is there twice`);
  }
  for (const name of ["aria-describedby", "aria-errormessage", "aria-controls", "for"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      for (const id of element.getAttribute(name).split(/\s+/)) {
        if (id && !document.getElementById(id)) {
          found.push(`${name} of ${outline(element)} names no element: ${id}`);
        }
      }
    }
  }
  for (const control of document.querySelectorAll("input, select, textarea")) {
    const isNamed = control.labels?.length || control.ariaLabel || control.getAttribute("aria-labelledby");
    if (control.type !== "hidden" && !control.hidden && !isNamed && isShown(control)) {
      found.push(`${outline(control)} ${control.name} has no label`);
    }
  }
  for (const control of document.querySelectorAll("[aria-invalid=true]")) {
    const message = document.getElementById(control.getAttribute("aria-errormessage"));
    if (!message?.textContent.trim() || message.hidden) {
      found.push(`${outline(control)} is wrong, and no message says why`);
    }
  }
  return found;
}

function contrasts() {
  const found = [];
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element)) {
      continue;
    }
    seen.add(element);
    if (element.closest("script, style, option, noscript, :disabled") || !isShown(element)) {
      continue;
    }
    const style = getComputedStyle(element);
    const below = backdrop(element);
    const [r, g, b, a] = colour(style.color);
    const ratio = contrast(over([r, g, b, a * opacity(element)], below), below);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) {
      found.push(`contrast ${ratio.toFixed(2)} of ${outline(element)}: ${style.color}`);
    }
  }
  for (const control of document.querySelectorAll("input, select, textarea")) {
    const style = getComputedStyle(control);
    if (!isShown(control) || ["hidden", "radio", "checkbox", "file"].includes(control.type)) {
      continue;
    }
    const around = backdrop(control.parentElement);
    const edge = contrast(over(colour(style.borderTopColor), around), around);
    if (edge < 3) {
      found.push(`contrast ${edge.toFixed(2)} of the edge of ${outline(control)}`);
    }
    const inside = backdrop(control);
    const value = contrast(over(colour(style.color), inside), inside);
    const hint = contrast(over(colour(getComputedStyle(control, "::placeholder").color), inside), inside);
    if (value < 4.5 || (control.placeholder && hint < 4.5)) {
      found.push(`contrast ${value.toFixed(2)}, ${hint.toFixed(2)} of the text in ${outline(control)} ${control.name}`);
    }
  }
  return found;
}

/** Controls smaller than 24 px, but for links in a line of text and those with enough space. */
function targets() {
  const found = [];
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(isShown);
  const box = (element) => (element.matches("input[type=radio], input[type=checkbox]") && element.closest("label") ? element.closest("label") : element);
  const places = all.map((element) => [element, box(element).getBoundingClientRect()]);
  for (const [element, { width, height, x, y }] of places) {
    const isInLine = getComputedStyle(element).display === "inline";
    if ((width >= 23.99 && height >= 23.99) || isInLine || element.closest(".skip")) {
      continue;
    }
    const [cx, cy] = [x + width / 2, y + height / 2];
    const isCrowded = places.some(([other, rect]) => other !== element && !other.contains(element) && !element.contains(other) &&
      Math.hypot(Math.max(rect.left - cx, 0, cx - rect.right), Math.max(rect.top - cy, 0, cy - rect.bottom)) < 12);
    if (isCrowded) {
      found.push(`${Math.round(width)}×${Math.round(height)} px is too small for ${outline(element)}`);
    }
  }
  return found;
}

/** What is wider than the window, but for what scrolls in a box of its own. */
function overflows() {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth > width) {
    found.push(`the page is ${document.scrollingElement.scrollWidth} px wide in a window of ${width}`);
  }
  for (const element of document.body.querySelectorAll("*")) {
    const { right, left } = element.getBoundingClientRect();
    if (right <= width + 1 && left >= -1) {
      continue;
    }
    let isInBox = false;
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      isInBox ||= getComputedStyle(at).overflowX !== "visible";
    }
    if (!isInBox && isShown(element)) {
      found.push(`${outline(element)} ends at ${Math.round(right)} px in a window of ${width}`);
    }
  }
  return found;
}

function problems() {
  return [...structure(), ...contrasts(), ...targets(), ...overflows()];
}
