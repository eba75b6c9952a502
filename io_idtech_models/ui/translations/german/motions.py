"""German: options of animations and joints."""

TEXTS = {
    "A frame of the animation": "Ein Frame der Animation",
    "Actions": "Aktionen",
    "Active Action": "Aktive Aktion",
    "Add Origin Joint": "Ursprungsgelenk",
    "All Actions": "Alle Aktionen",
    "Also into a file of animations alone, where the source had none: games then know joints by number": (
        "Auch in eine Datei nur mit Animationen, wo die Quelle keine hatte: Spiele kennen Gelenke dann nach Nummern"
    ),
    "Animations": "Animationen",
    "The action that plays, or the scene's range where more than that moves the bones": (
        "Die Aktion, die abgespielt wird, oder der Szenenbereich, wo mehr als sie die Knochen bewegt"
    ),
    "Best Fit": "Beste Passung",
    "Bind Pose": "Bindepose",
    "Bones From": "Knochen aus",
    "Bones and Action": "Knochen und Aktion",
    "Current Frame": "Aktueller Frame",
    "Default Bone": "Ersatz",
    "Deform Bones Only": "Nur verformende",
    "Dither": "Dithering",
    "End": "Ende",
    "Every action that the armature plays or keeps, or that fits it and is no other's": (
        "Jede Aktion, die das Skelett spielt oder behält, oder die zu ihm passt und keinem anderen gehört"
    ),
    "Every frame of the scene's range, as the timeline shows it": (
        "Jeder Frame des Bereichs der Szene, wie die Zeitleiste ihn zeigt"
    ),
    "Every marker of the timeline begins an animation, which lasts up to the next": (
        "Jeder Marker der Zeitleiste beginnt eine Animation, die bis zum nächsten dauert"
    ),
    "Every strip that is not muted, as it plays alone": "Jeder Streifen, der nicht stumm ist, wie er allein spielt",
    "File": "Datei",
    "First frame of the range": "Erster Frame des Bereichs",
    "Fit Frame Range": "Bereich anpassen",
    "Frame": "Frame",
    "Frame Rate": "Bildrate",
    "Frames": "Frames",
    "Frames per second of the scene, 10 in the games; 0 leaves it as it is": (
        "Frames pro Sekunde der Szene, 10 in den Spielen; 0 lässt sie, wie sie ist"
    ),
    "Frames per second of the scene; 0 leaves it as it is": "Frames pro Sekunde der Szene; 0 lässt sie, wie sie ist",
    "Frames per second; 0: the action's, else the scene's": "Frames pro Sekunde; 0: die der Aktion, sonst der Szene",
    "Hang several roots on a joint 'origin': Doom 3 takes animations with one": (
        "Mehrere Wurzeln an ein Gelenk 'origin' hängen: Doom 3 nimmt Animationen mit einer"
    ),
    "Joints by Number": "Nach Nummern",
    "Last frame of the range": "Letzter Frame des Bereichs",
    "Leave out bones that deform nothing: controls and helpers": (
        "Knochen weglassen, die nichts verformen: Steuer- und Hilfsknochen"
    ),
    "Let the scene play at the animation's frames per second": (
        "Die Szene mit den Frames pro Sekunde der Animation spielen lassen"
    ),
    "Let the scene play from the first frame to the last; what is animated already keeps its frames": (
        "Die Szene vom ersten zum letzten Frame spielen lassen; was schon animiert ist, behält seine Frames"
    ),
    "Load the animations in the same folder whose joints match": (
        "Die Animationen desselben Ordners laden, deren Gelenke passen"
    ),
    "Markers": "Marker",
    "Match joints and bones by their numbers, whatever they are called; without names always": (
        "Gelenke und Knochen nach ihren Nummern zuordnen, wie immer sie heißen; ohne Namen immer"
    ),
    "Model's Keys": "Modellschlüssel",
    "Most Weights": "Max. Gewicht",
    "NLA Strips": "NLA-Streifen",
    "Named actions one after another, their frames numbered as games expect": (
        "Genannte Aktionen nacheinander, ihre Frames benannt, wie Spiele es erwarten"
    ),
    "Names of chosen actions, with commas between": "Namen der gewählten Aktionen, durch Kommas getrennt",
    "Names with commas between, in the order of the file; empty: all of the model's own": (
        "Namen, durch Kommas getrennt, in der Reihenfolge der Datei; leer: alle eigenen des Modells"
    ),
    "No Full Brights": "Keine Leuchtfarben",
    "Of a new or changed vertex the largest this many are written; 0 writes all": (
        "Von einem neuen oder geänderten Vertex werden so viele der größten geschrieben; 0 schreibt alle"
    ),
    "One frame per shape key, in their order": "Ein Frame je Formschlüssel, in ihrer Reihenfolge",
    "One frame, the rest pose": "Ein Frame, die Ruhepose",
    "One frame: what the scene shows now": "Ein Frame: was die Szene jetzt zeigt",
    "Pack Frames": "Frames packen",
    "Range": "Bereich",
    "Rest": "Ruhe",
    "Scene Range": "Szenenbereich",
    "Start": "Anfang",
    "Step": "Schritt",
    "Store matrices of bones in half the room, a little coarser; what came packed stays so": (
        "Matrizen der Knochen in halbem Platz speichern, etwas gröber; was gepackt kam, bleibt so"
    ),
    "Table": "Tabelle",
    "The .aninc that says which frames are which animation; empty: the one beside": (
        "Die .aninc, die sagt, welche Frames welche Animation sind; leer: die daneben"
    ),
    "The action that the armature plays": "Die Aktion, die das Skelett spielt",
    "The file that has the bones; empty: the one beside the model, else the one of the game": (
        "Die Datei mit den Knochen; leer: die neben dem Modell, sonst die des Spiels"
    ),
    "The frame of the bind pose": "Der Frame der Bindepose",
    "The frames from start to end": "Die Frames vom Anfang bis zum Ende",
    "The pose in the file": "Die Pose in der Datei",
    "The pose in which the meshes are bound to the bones; it shows in edit mode": (
        "Die Pose, in der die Meshes an die Knochen gebunden sind; sie zeigt sich im Bearbeitungsmodus"
    ),
    "The pose in which the weights of all vertices agree best: they move most as in the game": (
        "Die Pose, in der die Gewichte aller Vertices am besten übereinstimmen: sie bewegen sich am ehesten wie im "
        "Spiel"
    ),
    "What the scene shows: constraints, drivers and parents count": (
        "Was die Szene zeigt: Beschränkungen, Treiber und Eltern zählen"
    ),
    "What vertices without weights are bound to; empty: they are an error": (
        "Woran Vertices ohne Gewichte gebunden werden; leer: sie sind ein Fehler"
    ),
    "Which animations to write into the file; an armature without any is written as it rests": (
        "Welche Animationen in die Datei geschrieben werden; ein Skelett ohne solche, wie es ruht"
    ),
    "Which frames to write": "Welche Frames geschrieben werden",
    "Write Joints": "Gelenke schreiben",
    "Write every n-th frame": "Jeden n-ten Frame schreiben",
    "Write the file with the bones, too: the action that the armature plays, or else its rest": (
        "Auch die Datei mit den Knochen schreiben: die Aktion, die das Skelett spielt, oder seine Ruhe"
    ),
}
