// For browsers that know no modules, so that nothing of the page runs: it says so. Written in the
// language of 1999.

(function () {
  var start = document.getElementById("start");
  var note = document.createElement("p");
  note.id = "not-running";
  note.appendChild(document.createTextNode((start && start.getAttribute("data-cannot")) || ""));
  document.body.insertBefore(note, document.body.firstChild);
})();
