"use strict";
// What the fields of a form can do with a script: show a masked value, and take several lines.

/** Adds the button that shows what is typed in a masked field. */
function addShow(field) {
  const name = field.dataset.parameter;
  const toggle = document.createElement("button");
  Object.assign(toggle, { type: "button", className: "quiet show", textContent: "Show", ariaPressed: "false", ariaLabel: `Show ${name}` });
  toggle.addEventListener("click", () => {
    const control = field.querySelector(".control > :is(input, textarea)");
    const shown = toggle.ariaPressed !== "true";
    toggle.ariaPressed = String(shown);
    if (control.localName === "textarea") {
      control.classList.toggle("masked", !shown);
    } else {
      control.type = shown ? "text" : "password";
    }
  });
  field.querySelector(".control").append(toggle);
}

/** Puts a control of several lines in the place of one that drops line breaks. */
function withLines(input) {
  const area = document.createElement("textarea");
  for (const { name, value } of input.attributes) {
    if (name === "pattern") {
      area.dataset.pattern = value;
    } else if (!["type", "value"].includes(name)) {
      area.setAttribute(name, value);
    }
  }
  area.rows = 3;
  area.value = input.value;
  area.classList.toggle("masked", input.type === "password");
  input.replaceWith(area);
  return area;
}

/** Makes a field for a text take what is pasted as it is. */
function takeLines(field) {
  if (field.dataset.type !== "string") {
    return;
  }
  field.addEventListener("paste", (event) => {
    const input = event.target;
    const text = event.clipboardData?.getData("text") ?? "";
    // A line that was copied whole ends in a line break.
    if (!input.matches("input:is([type=text], [type=password])") || !/[\r\n]/.test(text.trim())) {
      return;
    }
    event.preventDefault();
    const { selectionStart, selectionEnd } = input;
    const area = withLines(input);
    area.focus();
    area.setRangeText(text, selectionStart, selectionEnd, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
